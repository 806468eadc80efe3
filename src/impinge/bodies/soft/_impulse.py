"""Kernel: impulses between pairs, one after the other."""

from impinge._jit import kernel


@kernel
def apply_impulses(order, corners, weights, normals, speeds, mobility, velocities):
    """Change velocities until the nearest points of each pair in turn part with its speed at least.

    mobility : (n, 3) 1/kg, 0 for coordinates whose motion is given
    """
    for k in order:
        parting = yielding = 0.0
        for c in range(4):
            node = corners[k, c]
            for axis in range(3):
                share = weights[k, c] * normals[k, axis]
                parting += share * velocities[node, axis]
                yielding += share * share * mobility[node, axis]
        if parting < speeds[k] and yielding > 0.0:
            impulse = (speeds[k] - parting) / yielding
            for c in range(4):
                node = corners[k, c]
                for axis in range(3):
                    velocities[node, axis] += impulse * weights[k, c] * normals[k, axis] * mobility[node, axis]
