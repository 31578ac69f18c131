"""Seeded changes of ONNX models that stay messages: fields change, the encoding is right."""

import random
from collections.abc import Iterator
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

NUMBERS = (0, 1, -1, 2, 3, 8, 2**31 - 1, 2**31, 2**62, 2**63 - 1, -(2**63))
RANGES = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
REALS = (0.0, -1.0, 0.5, 1e38, 1e-45, float("inf"), float("nan"))
MAX_REPEATED = 2000

Place = tuple[Message, FieldDescriptor]


def _places(message: Message) -> Iterator[Place]:
    """Yield every field that is set, in this message and those below."""
    for field, value in message.ListFields():
        yield message, field
        if field.type == field.TYPE_MESSAGE:
            for part in value if field.is_repeated else [value]:
                yield from _places(part)


def _other(value: Any, field: FieldDescriptor, known: list[Any], rng: random.Random) -> Any:
    """Return another value of a field without fields of its own."""
    if known and rng.random() < 0.6:
        return rng.choice(known)
    match field.type:
        case field.TYPE_STRING:
            return rng.choice(("", "x", value * 2, "?", "\0"))
        case field.TYPE_BYTES:
            return rng.choice((b"", value[:-1], value * 2, b"\xff" * len(value)))
        case field.TYPE_FLOAT | field.TYPE_DOUBLE:
            return rng.choice(REALS)
        case field.TYPE_ENUM:
            return rng.choice(field.enum_type.values).number
    small = rng.choice((value - 1, value + 1, rng.randint(-3, 30)))
    least, most = RANGES[field.cpp_type]
    return min(max(rng.choice((small, rng.choice(NUMBERS))), least), most)


def _known(model: Message, field: FieldDescriptor) -> list[Any]:
    """Return the values of this field all over a model."""
    values: list[Any] = []
    for message, other in _places(model):
        if other.full_name == field.full_name:
            value = getattr(message, field.name)
            values += value if field.is_repeated else [value]
    return values


def _change_repeated(
    message: Message, field: FieldDescriptor, model: Message, rng: random.Random
) -> None:
    """Remove, repeat, take in, move or change an element."""
    values = list(getattr(message, field.name))
    place = rng.randrange(len(values))
    known = _known(model, field)
    match rng.choice(("remove", "repeat", "take", "move", "change", "clear")):
        case "remove":
            del values[place]
        case "repeat":
            copies = rng.choice((1, 1, MAX_REPEATED // len(values)))
            values[place:place] = [values[place]] * copies
        case "take" if known:
            values.insert(place, rng.choice(known))
        case "move":
            values.insert(rng.randrange(len(values)), values.pop(place))
        case "change" if field.type != field.TYPE_MESSAGE:
            values[place] = _other(values[place], field, known, rng)
        case "clear":
            values.clear()
    kept = [_copy(value) for value in values]
    message.ClearField(field.name)
    getattr(message, field.name).extend(kept)


def _copy(value: Any) -> Any:
    if not isinstance(value, Message):
        return value
    result = type(value)()
    result.CopyFrom(value)
    return result


def _change(model: Message, other: Message, rng: random.Random) -> None:
    """Change a field; every name of a field is as likely as another."""
    places: dict[str, list[Place]] = {}
    for place in _places(model):
        places.setdefault(place[1].full_name, []).append(place)
    if not places:
        return
    message, field = rng.choice(rng.choice(list(places.values())))
    source = rng.choice((model, other))
    if field.is_repeated:
        _change_repeated(message, field, source, rng)
    elif field.type == field.TYPE_MESSAGE:
        known = _known(source, field)
        if known and rng.random() < 0.7:
            getattr(message, field.name).CopyFrom(_copy(rng.choice(known)))
        else:
            message.ClearField(field.name)
    elif rng.random() < 0.15:
        message.ClearField(field.name)
    else:
        value = getattr(message, field.name)
        setattr(message, field.name, _other(value, field, _known(source, field), rng))


def change(original: bytes, other: bytes, rng: random.Random) -> bytes:
    """Return a changed copy of a model, with parts of another."""
    models = onnx.ModelProto(), onnx.ModelProto()
    for model, data in zip(models, (original, other), strict=True):
        model.ParseFromString(data)
    for _ in range(rng.choice((1, 1, 2, 3, 5))):
        _change(*models, rng)
    return models[0].SerializeToString()
