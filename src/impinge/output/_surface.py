"""Opaque triangles with smooth normals in a picture, in light and shadow. Items are rows, so threads never meet.

Places are columns, rows (downwards) and depths (towards the eye), all in samples; so are directions.
"""

import math

import numpy as np

from impinge._jit import parallel, part
from impinge.output._render import BAND, NOTHING, _depth_at, _plane, _row_span, _span, _weights

EDGE = 2  # samples: width of the line where a surface ends
SOFTNESS = 2  # cells of the shadow map that the edge of a shadow is wide, to either side


@parallel(grain=1)
def draw_surface(first, stop, triangles, depth, owner):
    """For every sample the nearest triangle, and how near it is; items are bands of rows."""
    height, width = depth.shape
    for band in range(first, stop):
        top, bottom = band * BAND, min((band + 1) * BAND, height)
        for i in range(len(triangles)):
            t = triangles[i]
            row0, row1 = _span(min(t[0, 1], t[1, 1], t[2, 1]), max(t[0, 1], t[1, 1], t[2, 1]), top, bottom)
            if row0 >= row1:
                continue
            area, along_x, along_y, back, front = _plane(t)
            if area == 0.0:
                continue
            for row in range(row0, row1):
                low, high = _row_span(t, row + 0.5)
                if not low < high:
                    continue
                column1 = min(math.ceil(high - 0.5), width)
                for column in range(max(math.ceil(low - 0.5), 0), column1):
                    z = t[0, 2] + along_x * (column + 0.5 - t[0, 0]) + along_y * (row + 0.5 - t[0, 1])
                    z = min(max(z, back), front)
                    if z > depth[row, column]:
                        depth[row, column] = z
                        owner[row, column] = i


@part
def _lit(x, y, z, to_map, shadow_map):
    """Part of a place that the light reaches: where the shadow map shows nothing that is nearer to the light."""
    u = to_map[0, 0] * x + to_map[0, 1] * y + to_map[0, 2] * z + to_map[0, 3]
    v = to_map[1, 0] * x + to_map[1, 1] * y + to_map[1, 2] * z + to_map[1, 3]
    near = to_map[2, 0] * x + to_map[2, 1] * y + to_map[2, 2] * z + to_map[2, 3]
    height, width = shadow_map.shape
    middle_row, middle_column = math.floor(v), math.floor(u)
    free = 0
    for row in range(middle_row - SOFTNESS, middle_row + SOFTNESS + 1):
        for column in range(middle_column - SOFTNESS, middle_column + SOFTNESS + 1):
            inside = 0 <= row < height and 0 <= column < width
            if not inside or shadow_map[row, column] <= near:
                free += 1
    return free / (2 * SOFTNESS + 1) ** 2


@part
def _open_sky(x, y, z, nx, ny, nz, depth, around):
    """Part of the sky that a place sees past what is near; the last place around it is the farthest."""
    height, width = depth.shape
    # Neighbours look into other directions, so that the pattern does not show.
    turn = (math.floor(x) * 5 + math.floor(y) * 3) % 16 * (math.pi / 8)
    cos, sin = math.cos(turn), math.sin(turn)
    last = len(around) - 1
    reach_sq = around[last, 0] ** 2 + around[last, 1] ** 2
    hidden = 0.0
    for k in range(len(around)):
        row = math.floor(y + sin * around[k, 0] + cos * around[k, 1])
        column = math.floor(x + cos * around[k, 0] - sin * around[k, 1])
        if 0 <= row < height and 0 <= column < width and depth[row, column] > -np.inf:
            dx, dy, dz = column + 0.5 - x, row + 0.5 - y, depth[row, column] - z
            distance_sq = dx * dx + dy * dy + dz * dz
            if 0.0 < distance_sq < reach_sq:
                above = (dx * nx + dy * ny + dz * nz) / math.sqrt(distance_sq)
                hidden += max(above - 0.1, 0.0) * (1.0 - distance_sq / reach_sq)
    return max(1.0 - 3.0 * hidden / len(around), 0.0)


@part
def _share_corner(t, other):
    """Whether two triangles have a corner in one place."""
    for k in range(3):
        for m in range(3):
            if t[k, 0] == other[m, 0] and t[k, 1] == other[m, 1] and t[k, 2] == other[m, 2]:
                return True
    return False


@part
def _ends_here(t, x, y, z, triangles, owner, depth, gap):
    """Whether the surface ends before something that lies farther back than `gap`, or before nothing.

    Neither of two triangles that meet is `gap` apart from where the other goes on; normals would not tell, as they
    are smooth, and what is seen nearly edge on falls off within a sample. Between two that share a corner there may
    be a third one so steep that no sample shows it; the surface goes on there.
    """
    height, width = depth.shape
    for k in range(4):
        dx, dy = EDGE * (k % 2) * (2 - k), EDGE * ((k + 1) % 2) * (1 - k)
        row, column = math.floor(y) + dy, math.floor(x) + dx
        if 0 <= row < height and 0 <= column < width:
            other = owner[row, column]
            if other == NOTHING:
                return True
            if depth[row, column] < _depth_at(t, x + dx, y + dy) - gap and _depth_at(triangles[other], x, y) < z - gap:
                if not _share_corner(t, triangles[other]):
                    return True
    return False


@part
def _shade(i, triangles, normals, colours, x, y, owner, depth, around, light, to_map, shadow_map, lift, out):
    """Colour of a place on a triangle, both sides of which are seen."""
    t, z = triangles[i], depth[math.floor(y), math.floor(x)]
    first, second, third, area = _weights(t, x, y)
    nx = first * normals[i, 0, 0] + second * normals[i, 1, 0] + third * normals[i, 2, 0]
    ny = first * normals[i, 0, 1] + second * normals[i, 1, 1] + third * normals[i, 2, 1]
    nz = first * normals[i, 0, 2] + second * normals[i, 1, 2] + third * normals[i, 2, 2]
    # Rows run downwards: a triangle seen from its front has a negative area.
    side = 1.0 if area < 0.0 else -1.0
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if length > 0.0:
        nx, ny, nz = side * nx / length, side * ny / length, side * nz / length
    nz = max(nz, 0.0)
    facing = nx * light[0] + ny * light[1] + nz * light[2]
    lit = 0.0
    if facing > 0.0:
        lit = _lit(x + lift * nx, y + lift * ny, z + lift * nz, to_map, shadow_map)
    diffuse = max(facing, 0.0) * lit
    ambient = (0.60 - 0.10 * ny) * _open_sky(x, y, z, nx, ny, nz, depth, around)  # more from above
    # The direction halfway between the light and the eye, of length 1.
    mirrored = max(nx * light[0] + ny * light[1] + nz * (light[2] + 1.0), 0.0) / math.sqrt(2.0 + 2.0 * light[2])
    shine = 0.10 * lit * mirrored**25
    paint = (1.0 if side > 0.0 else 0.85) * (ambient + 0.50 * diffuse)
    if _ends_here(t, x, y, z, triangles, owner, depth, lift):
        paint, shine = 0.5 * paint, 0.0
    for k in range(3):
        colour = first * colours[i, 0, k] + second * colours[i, 1, k] + third * colours[i, 2, k]
        out[k] = colour * paint + shine


@parallel(grain=16)
def mix_surface(
    first, stop, triangles, normals, colours, depth, owner, around, lines, light, to_map, shadow_map, lift, image
):
    """Average the colours of the samples of each pixel; items are rows of pixels."""
    size = len(owner) // len(image)
    colour, total = np.empty(3), np.empty(3)
    for pixel_row in range(first, stop):
        for pixel_column in range(image.shape[1]):
            total[:] = 0.0
            for row in range(pixel_row * size, (pixel_row + 1) * size):
                for column in range(pixel_column * size, (pixel_column + 1) * size):
                    i = owner[row, column]
                    colour[:] = 1.0
                    if i != NOTHING:
                        _shade(
                            i, triangles, normals, colours, column + 0.5, row + 0.5, owner, depth, around, light,
                            to_map, shadow_map, lift, colour,
                        )  # fmt: skip
                    if lines[row, column] > 0:
                        for k in range(3):
                            colour[k] = 0.55 * colour[k] + 0.45 * 0.2
                    for k in range(3):
                        total[k] += min(max(colour[k], 0.0), 1.0)
            for k in range(3):
                image[pixel_row, pixel_column, k] = np.uint8(255.0 * total[k] / (size * size) + 0.5)
