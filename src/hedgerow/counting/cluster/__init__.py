"""Counting on a Dask cluster: the connection, what workers do, and the engines that ask them."""
