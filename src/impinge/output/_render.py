"""Spheres, triangles and lines in a picture seen from far away. Items are bands of rows, so threads never meet.

Places are columns, rows (downwards) and depths (towards the eye), all in samples; several samples make a pixel.
"""

import math

import numpy as np

from impinge._jit import parallel, part

BAND = 64
NOTHING = -1
MESH_LINE, BOX_LINE = 2, 1
BODY, PART = 0, 1  # of faces: which body, and which smooth part of it


@part
def _span(low, high, first, stop):
    """Samples whose middles lie from low to high, among first to stop - 1."""
    return max(math.ceil(low - 0.5), first), min(math.floor(high - 0.5) + 1, stop)


@parallel(grain=1)
def draw_spheres(first, stop, spheres, depth, owner):
    """For every sample the nearest sphere (x, y, z, radius), and how near it is."""
    height, width = depth.shape
    for band in range(first, stop):
        top, bottom = band * BAND, min((band + 1) * BAND, height)
        for i in range(len(spheres)):
            x, y, z, r = spheres[i, 0], spheres[i, 1], spheres[i, 2], spheres[i, 3]
            if y + r < top or y - r > bottom:
                continue
            row0, row1 = _span(y - r, y + r, top, bottom)
            for row in range(row0, row1):
                chord_sq = r * r - (row + 0.5 - y) ** 2
                half = math.sqrt(max(chord_sq, 0.0))
                column0, column1 = _span(x - half, x + half, 0, width)
                for column in range(column0, column1):
                    dx = column + 0.5 - x
                    near = z + math.sqrt(max(chord_sq - dx * dx, 0.0))
                    if near > depth[row, column]:
                        depth[row, column] = near
                        owner[row, column] = i


@part
def _crossing(y, x0, y0, x1, y1):
    """Where the edge from (x0, y0) to (x1, y1) meets a row, y0 < y1."""
    return x0 + (x1 - x0) * ((y - y0) / (y1 - y0))


@part
def _row_span(corners, y):
    """Where a triangle begins and ends in a row; both triangles at an edge get the same number for it."""
    low, high = np.inf, -np.inf
    for k in range(3):
        m = (k + 1) % 3
        x0, y0, x1, y1 = corners[k, 0], corners[k, 1], corners[m, 0], corners[m, 1]
        if y0 <= y < y1:
            x = _crossing(y, x0, y0, x1, y1)
        elif y1 <= y < y0:
            x = _crossing(y, x1, y1, x0, y0)
        else:
            continue
        low, high = min(low, x), max(high, x)
    return low, high


@part
def _plane(t):
    """Twice the area of a triangle in the picture, how its depth grows along columns and rows, and how far it goes."""
    ax, ay, az = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[1, 2] - t[0, 2]
    bx, by, bz = t[2, 0] - t[0, 0], t[2, 1] - t[0, 1], t[2, 2] - t[0, 2]
    area = ax * by - ay * bx
    back, front = min(t[0, 2], t[1, 2], t[2, 2]), max(t[0, 2], t[1, 2], t[2, 2])
    return area, (az * by - ay * bz) / area, (ax * bz - az * bx) / area, back, front


@part
def _depth_at(t, x, y):
    """How near a triangle is in a place, or would be if it went on there, but not beyond its corners."""
    _, along_x, along_y, back, front = _plane(t)
    return min(max(t[0, 2] + along_x * (x - t[0, 0]) + along_y * (y - t[0, 1]), back), front)


@part
def _weights(t, x, y):
    """Parts of the corners of a triangle in a place inside it, or at its rim."""
    ax, ay, bx, by = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[2, 0] - t[0, 0], t[2, 1] - t[0, 1]
    area = ax * by - ay * bx
    second = min(max(((x - t[0, 0]) * by - (y - t[0, 1]) * bx) / area, 0.0), 1.0)
    third = min(max((ax * (y - t[0, 1]) - ay * (x - t[0, 0])) / area, 0.0), 1.0 - second)
    return 1.0 - second - third, second, third, area


@parallel(grain=1)
def draw_triangles(first, stop, triangles, shades, depth, layers, brightness):
    """For every sample how many triangles lie before the spheres, and the sum of their shades."""
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
                # Half open, so that no sample belongs to both triangles at an edge.
                column1 = min(math.ceil(high - 0.5), width)
                for column in range(max(math.ceil(low - 0.5), 0), column1):
                    z = t[0, 2] + along_x * (column + 0.5 - t[0, 0]) + along_y * (row + 0.5 - t[0, 1])
                    if min(max(z, back), front) > depth[row, column]:
                        layers[row, column] += 1
                        brightness[row, column] += shades[i]


@parallel(grain=1)
def draw_lines(first, stop, segments, value, depth, lines):
    """Put `value` where a line, three samples wide, lies before the spheres, unless there is a higher one."""
    height, width = depth.shape
    for band in range(first, stop):
        top, bottom = band * BAND, min((band + 1) * BAND, height)
        for i in range(len(segments)):
            x, y, z = segments[i, 0, 0], segments[i, 0, 1], segments[i, 0, 2]
            dx, dy, dz = segments[i, 1, 0] - x, segments[i, 1, 1] - y, segments[i, 1, 2] - z
            if max(y, y + dy) < top - 2 or min(y, y + dy) > bottom + 2:
                continue
            steps = math.ceil(max(abs(dx), abs(dy), 1.0))
            for step in range(steps + 1):
                part_done = step / steps
                middle_row, middle_column = math.floor(y + part_done * dy), math.floor(x + part_done * dx)
                for row in range(max(middle_row - 1, top), min(middle_row + 2, bottom)):
                    for column in range(max(middle_column - 1, 0), min(middle_column + 2, width)):
                        if z + part_done * dz > depth[row, column]:
                            lines[row, column] = max(lines[row, column], value)


@part
def _light_on_sphere(sphere, row, column, light):
    """Diffuse and mirrored light on the place of a sphere that a sample shows; dark towards its outline."""
    r = sphere[3]
    nx, ny = (column + 0.5 - sphere[0]) / r, (row + 0.5 - sphere[1]) / r
    nz = math.sqrt(max(1.0 - nx * nx - ny * ny, 0.0))
    diffuse = max(nx * light[0] + ny * light[1] + nz * light[2], 0.0)
    outline = 0.55 + 0.45 * min(nz / 0.4, 1.0)
    # The direction halfway between the light and the eye, of length 1.
    length = math.sqrt(2.0 + 2.0 * light[2])
    mirrored = max(nx * light[0] + ny * light[1] + nz * (light[2] + 1.0), 0.0) / length
    return (0.50 + 0.58 * diffuse) * outline, 0.20 * mirrored**30


@part
def _light_on_face(t, normals, x, y, light):
    """Diffuse and mirrored light on the place of a triangle that a sample shows; more from above."""
    first, second, third, _ = _weights(t, x, y)
    nx = first * normals[0, 0] + second * normals[1, 0] + third * normals[2, 0]
    ny = first * normals[0, 1] + second * normals[1, 1] + third * normals[2, 1]
    nz = first * normals[0, 2] + second * normals[1, 2] + third * normals[2, 2]
    length = math.sqrt(nx * nx + ny * ny + nz * nz)
    if length > 0.0:
        nx, ny, nz = nx / length, ny / length, nz / length
    diffuse = max(nx * light[0] + ny * light[1] + nz * light[2], 0.0)
    length = math.sqrt(2.0 + 2.0 * light[2])
    mirrored = max(nx * light[0] + ny * light[1] + nz * (light[2] + 1.0), 0.0) / length
    return 0.42 - 0.10 * ny + 0.60 * diffuse, 0.12 * mirrored**30


@part
def _line_at(i, count, row, column, faces, marks, owner, depth, gap):
    """What is beside a sample of a face: BODY where its body ends before another, PART where an edge is, or NOTHING."""
    height, width = depth.shape
    x, y, z = column + 0.5, row + 0.5, depth[row, column]
    t, found = faces[i - count], NOTHING
    for k in range(8):
        far, side = k // 4 + 1, k % 4
        dx, dy = far * (side % 2) * (2 - side), far * ((side + 1) % 2) * (1 - side)
        r, c = row + dy, column + dx
        if not (0 <= r < height and 0 <= c < width):
            continue
        other, near = owner[r, c], depth[r, c]
        if other == NOTHING:
            return BODY
        if near > z + gap or (other < count and near > z):
            continue  # the line, if any, is that of what is nearer
        if other < count or marks[other - count, BODY] != marks[i - count, BODY]:
            return BODY
        if marks[other - count, PART] != marks[i - count, PART]:
            found = PART if far == 1 else found
        elif near < _depth_at(t, x + dx, y + dy) - gap and _depth_at(faces[other - count], x, y) < z - gap:
            return BODY
    return found


@parallel(grain=16)
def mix_colours(
    first, stop, spheres, faces, normals, marks, gap, colours, owner, depth, open_sky, layers, brightness, lines, light,
    mesh_colour, clearness, image
):  # fmt: skip
    """Average the colours of the samples of each pixel; items are rows of pixels. Owners: spheres, then faces."""
    count = len(spheres)
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
                        sky, white = open_sky[row, column], 0.0
                        if i < count:
                            diffuse, mirrored = _light_on_sphere(spheres[i], row, column, light)
                        else:
                            diffuse, mirrored = _light_on_face(
                                faces[i - count], normals[i - count], column + 0.5, row + 0.5, light
                            )
                            sky = 0.3 + 0.7 * sky  # these have flat sides that nothing on them hides
                            line = _line_at(i, count, row, column, faces, marks, owner, depth, gap)
                            white = 0.1  # so that lines and shades are seen on dark colours too
                            if line != NOTHING:
                                diffuse, mirrored = diffuse * (0.3 if line == BODY else 0.5), 0.0
                        for k in range(3):
                            colour[k] = ((1.0 - white) * colours[i, k] + white) * diffuse * sky + mirrored
                    if layers[row, column] > 0:
                        through = clearness ** layers[row, column]
                        shade = brightness[row, column] / layers[row, column]
                        for k in range(3):
                            colour[k] = through * colour[k] + (1.0 - through) * shade * mesh_colour[k]
                    if lines[row, column] > 0:
                        paint = 0.8 if lines[row, column] == MESH_LINE else 0.45
                        for k in range(3):
                            colour[k] = (1.0 - paint) * colour[k] + paint * 0.2
                    for k in range(3):
                        total[k] += min(max(colour[k], 0.0), 1.0)
            for k in range(3):
                image[pixel_row, pixel_column, k] = np.uint8(255.0 * total[k] / (size * size) + 0.5)
