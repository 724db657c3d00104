"""The minimum-norm point of a base polytope (Fujishige and Wolfe): supermodular maximisation.

For a submodular F with F(empty) = 0, let x be the point of least norm of its base polytope. The
elements with x < 0 minimise F, and for every point x of the polytope the sum of its negative
parts bounds min F from below: a certificate, whatever rounding has done. Vertices come from the
greedy algorithm, one for each order of the elements; whatever sets the greedy algorithm meets are
handed to the caller, who may find in them what the certificate asks for.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgerow.arrays import Floats, Ints

__all__ = ["minimum_norm_point"]


def minimum_norm_point(
    vertex: Callable[[Ints], Floats],
    elements: int,
    enough: Callable[[Floats], bool],
    tolerance: float = 1e-10,
    most: int = 1000,
) -> Floats:
    """Wolfe's algorithm over vertices that the greedy algorithm gives.

    Args:
        vertex: The vertex of an order of the elements.
        elements: How many there are.
        enough: Called with each point; says whether its certificate will do.
        tolerance: Relative to the squared size of the vertices.
        most: The most vertices to ask for.

    Returns:
        The last point; its negative parts bound the minimum. If rounding leaves nothing to go on
        with, that is the best so far.

    Example:
        >>> cost = np.array([3.0, -2.0])  # a modular function has one vertex
        >>> minimum_norm_point(lambda order: cost, 2, lambda x: False)
        array([ 3., -2.])
    """
    point = vertex(np.arange(elements))
    corral = point[None, :].copy()
    share = np.ones(1)
    largest = float(point @ point)
    for _ in range(most):
        if enough(point):
            break
        new = vertex(np.argsort(point, kind="stable"))
        largest = max(largest, float(new @ new))
        if point @ point - point @ new <= tolerance * largest:
            break
        if (np.abs(corral - new[None, :]).max(axis=1) <= 1e-14 * np.sqrt(largest)).any():
            break  # rounding has brought back a vertex that is there already
        corral = np.concatenate([corral, new[None, :]])
        share = np.append(share, 0.0)
        while True:  # until the nearest point of the affine hull lies inside
            try:
                inside = _affine(corral)
            except np.linalg.LinAlgError:
                return point  # the certificate of any point of the polytope holds
            if (inside > 1e-12).all():
                share = inside
                break
            falling = share - inside > 1e-15
            falling &= inside <= 1e-12
            step = float((share[falling] / (share - inside)[falling]).min()) if falling.any() else 0
            share = (1 - step) * share + step * inside
            keep = share > 1e-12
            if keep.all():
                keep[np.argmin(share)] = False
            corral, share = corral[keep], share[keep]
            share = share / share.sum()
        point = share @ corral
    return point


def _affine(corral: Floats) -> Floats:
    """The weights of the point of least norm in the affine hull of some points.

    Raises:
        LinAlgError: If rounding has made the points too much alike for that.
    """
    number = len(corral)
    scale = max(float(np.abs(corral).max()), 1e-300)
    scaled = corral / scale
    system = np.ones((number + 1, number + 1))
    system[0, 0] = 0.0
    system[1:, 1:] = scaled @ scaled.T
    right = np.zeros(number + 1)
    right[0] = 1.0
    try:
        found = np.linalg.solve(system, right)
    except np.linalg.LinAlgError:
        found = np.linalg.lstsq(system, right, rcond=None)[0]
    if not np.isfinite(found).all():
        raise np.linalg.LinAlgError
    return np.asarray(found[1:])
