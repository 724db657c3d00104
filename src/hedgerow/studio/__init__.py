"""The local web app: the whole path from data to a release, in a browser on the steward's machine.

It holds no logic of its own. What reads all of the data or takes long is a command of hedgerow that
runs as a process (`jobs`); everything else calls the library. Every page shows the command that
would do the same.
"""
