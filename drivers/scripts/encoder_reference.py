#!/usr/bin/env python3
"""Writes the numbers that the Rust tests of the encoders compare with.

    encoder_reference.py objects FastestDet.onnx OUT.json
    encoder_reference.py voice silero_vad_16k_op15.onnx SPEECH.wav OUT.json

objects: a picture that both languages draw from the same integers (a disc with a rim and two hands, which the model takes
for a stop sign) goes through preprocessing, graph and decoding written in numpy.
voice: the probability of every window of a recording (16 kHz, mono, 16 bit).

Needs numpy and onnxruntime. The vectors of the text embedding come from minilm_to_onnx.py.
"""

import json
import sys
import wave

import numpy as np

WIDTH, HEIGHT, SIDE = 640, 360, 352
# Lower than what is used for perception, so that there is more than one box to compare.
SCORE, OVERLAP = 0.1, 0.45


def picture():
    x, y = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    rgb = np.stack([90 + x // 16, 110 + y // 12, 130 + (x + y) // 40], axis=-1)
    dx, dy = x - 320, y - 180
    distance = dx * dx + dy * dy
    rgb[distance <= 130 * 130] = [40, 40, 45]
    rgb[distance <= 115 * 115] = [245, 245, 240]
    marks = (distance >= 95 * 95) & (distance <= 108 * 108) & ((abs(dx) <= 5) | (abs(dy) <= 5))
    hands = ((abs(dx) <= 5) & (dy <= 0) & (dy >= -85)) | ((abs(dy) <= 6) & (dx >= 0) & (dx <= 60))
    rgb[marks | hands] = [20, 20, 20]
    return rgb.astype(np.uint8)


def resize(rgb):
    """Bilinear between the four neighbours, pixel centres at halves."""

    def axis(size):
        at = np.clip((np.arange(SIDE) + 0.5) * size / SIDE - 0.5, 0, size - 1)
        low = np.floor(at).astype(int)
        return low, np.minimum(low + 1, size - 1), at - low

    x0, x1, fx = axis(rgb.shape[1])
    y0, y1, fy = axis(rgb.shape[0])
    rgb = rgb.astype(np.float64)
    rows = rgb[:, x0] * (1 - fx)[None, :, None] + rgb[:, x1] * fx[None, :, None]
    return np.round(rows[y0] * (1 - fy)[:, None, None] + rows[y1] * fy[:, None, None])


def overlap(a, b):
    side = lambda low, high: max(0.0, min(a[high], b[high]) - max(a[low], b[low]))
    shared = side(0, 2) * side(1, 3)
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return shared / (area(a) + area(b) - shared)


def detect(graph, rgb):
    import onnxruntime

    planes = (resize(rgb)[:, :, ::-1].transpose(2, 0, 1) / 255).astype(np.float32)[None]
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    grid = session.run(["758"], {"input.1": planes})[0][0]
    sigmoid = lambda v: 1 / (1 + np.exp(-v))
    boxes = []
    for row in range(22):
        for column in range(22):
            cell = grid[:, row, column]
            score = cell[0] ** 0.6 * cell[5:].max() ** 0.4
            if score > SCORE:
                cx, cy = (column + np.tanh(cell[1])) / 22, (row + np.tanh(cell[2])) / 22
                w, h = sigmoid(cell[3]), sigmoid(cell[4])
                boxes.append((float(score), int(cell[5:].argmax()), [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]))
    kept = []
    for box in sorted(boxes, key=lambda box: -box[0]):
        if all(overlap(other[2], box[2]) <= OVERLAP for other in kept):
            kept.append(box)
    return kept


def probabilities(graph, samples):
    import onnxruntime

    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    state, context, found = np.zeros((2, 1, 128), np.float32), np.zeros(64, np.float32), []
    for at in range(0, len(samples) - 511, 512):
        window = np.concatenate([context, samples[at : at + 512]])
        output, state = session.run(None, {"input": window[None], "state": state, "sr": np.array(16000, np.int64)})
        context = window[-64:]
        found.append(float(output[0, 0]))
    return found


def main():
    mode, graph, *rest, out = sys.argv[1:]
    if mode == "objects":
        bounds = lambda box: [round(float(np.clip(edge, 0, 1)), 5) for edge in box]
        rows = [{"class": c, "score": round(s, 5), "bounds": bounds(b)} for s, c, b in detect(graph, picture())]
        result = {"score": SCORE, "nms": OVERLAP, "boxes": rows}
    else:
        with wave.open(rest[0]) as recording:
            samples = np.frombuffer(recording.readframes(recording.getnframes()), np.int16).astype(np.float32) / 32768
        result = [round(p, 5) for p in probabilities(graph, samples)]
    with open(out, "w") as file:
        file.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
