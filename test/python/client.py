"""A client of the platform that shares nothing with it but the contract in proto/.

client.py --agent HOST:PORT --server HOST:PORT [--result FILE] MANIFEST...

Opens a model on the agent, has it classify a picture, and closes it. Then submits evaluation manifests to the server,
one after the other, follows each to its end, and prints its estimates. The stubs are found by PYTHONPATH. Resolves the
services of both by reflection, without the stubs.
"""

import argparse
import json
import struct
import sys
import uuid
import zlib

import grpc
from google.protobuf import descriptor_pool
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from mlmodelscope.evaluation.v1 import evaluation_service_pb2, evaluation_service_pb2_grpc, submission_pb2
from mlmodelscope.org.dlframework import features_pb2, predictor_pb2, predictor_pb2_grpc

MODEL = {"model_name": "squeezenet1.1", "model_version": "1.0.0", "framework_name": "onnxruntime"}


def picture(width, height):
    """A PNG of 8-bit RGB in many colours."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(
        b"\0" + b"".join(bytes((x % 256, y % 256, (x + y) % 256)) for x in range(width)) for y in range(height)
    )
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def resolve_services(channel):
    """Every service, and the types of its methods' fields, by reflection alone."""
    reflection = ProtoReflectionDescriptorDatabase(channel)
    pool = descriptor_pool.DescriptorPool(reflection)
    names = reflection.get_services()
    assert names
    for name in names:
        for method in pool.FindServiceByName(name).methods:
            for message in method.input_type, method.output_type:
                for field in message.fields:
                    assert field.message_type is not None or field.type != field.TYPE_MESSAGE, field.full_name
    print(f"reflection: {len(names)} services")


def predict(channel):
    """Open, Images, Close."""
    agent = predictor_pb2_grpc.PredictStub(channel)
    opened = agent.Open(predictor_pb2.PredictorOpenRequest(**MODEL), timeout=120)
    try:
        image = features_pb2.Image(id="picture", data=picture(300, 260))
        answer = agent.Images(predictor_pb2.ImagesRequest(predictor=opened, images=[image]), timeout=120)
    finally:
        agent.Close(predictor_pb2.PredictorCloseRequest(predictor=opened), timeout=30)
    (response,) = answer.responses
    assert response.input_id == "picture", response.input_id
    assert [feature.type for feature in response.features] == [features_pb2.CLASSIFICATION] * 5, response.features
    probabilities = [feature.probability for feature in response.features]
    assert probabilities == sorted(probabilities, reverse=True) and 0 < sum(probabilities) <= 1.001, probabilities
    best = response.features[0]
    print(f"prediction: class {best.classification.index} with probability {best.probability:.4f}")


def evaluate(service, path):
    """Submits a manifest, follows it, and returns its result document."""
    with open(path, "rb") as file:
        files = [submission_pb2.File(path="evaluation.yml", data=file.read())]
    request = evaluation_service_pb2.SubmitEvaluationRequest(
        evaluation_id=str(uuid.uuid4()),
        submission=submission_pb2.Submission(manifest_path="evaluation.yml", files=files),
    )
    service.SubmitEvaluation(request, timeout=60)
    follow = evaluation_service_pb2.FollowEvaluationRequest(evaluation_id=request.evaluation_id)
    sequence = 0
    for answer in service.FollowEvaluation(follow, timeout=600):
        event = answer.event
        kind = event.WhichOneof("event")
        if kind == "measuring":
            assert event.sequence == sequence
        else:
            assert event.sequence == sequence + 1, f"{kind} has the number {event.sequence} after {sequence}"
            sequence = event.sequence
            print(f"{sequence:3} {kind}", describe(event, kind))
        if kind == "failed":
            raise SystemExit(f"{event.failed.code}: {event.failed.message}")
        if kind == "done":
            read = evaluation_service_pb2.GetEvaluationRequest(evaluation_id=request.evaluation_id)
            state = service.GetEvaluation(read, timeout=30).evaluation.state
            assert state == evaluation_service_pb2.Evaluation.STATE_DONE, state
            return json.loads(event.done.result_json)
    raise SystemExit("the server did not report the end")


def describe(event, kind):
    if kind == "planned":
        return event.planned.summary
    if kind == "estimate":
        estimate = event.estimate
        interval = f"{estimate.low_ms:.3f} to {estimate.high_ms:.3f} ms"
        return f"{estimate.model}: {estimate.latency_ms:.3f} ms ({interval}), coverage {estimate.coverage:.0%}"
    if kind == "started":
        return f"{event.started.plugin} on {event.started.agent}"
    return event.note.message if kind == "note" else ""


def refusal(service):
    """An invalid submission gets a canonical status, and a message with the place of the error."""
    submission = submission_pb2.Submission(
        manifest_path="e.yml", files=[submission_pb2.File(path="e.yml", data=b"dlspec: evaluation/v1\nname: x\n")]
    )
    request = evaluation_service_pb2.SubmitEvaluationRequest(evaluation_id=str(uuid.uuid4()), submission=submission)
    try:
        service.SubmitEvaluation(request, timeout=30)
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.INVALID_ARGUMENT, error
        assert "e.yml:1:1: models: expected a list" in error.details(), error.details()
        return
    raise SystemExit("an invalid manifest was accepted")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", required=True)
    parser.add_argument("--server", required=True)
    parser.add_argument("--result")
    parser.add_argument("manifests", nargs="+")
    arguments = parser.parse_args()
    with grpc.insecure_channel(arguments.agent) as channel:
        resolve_services(channel)
        predict(channel)
    with grpc.insecure_channel(arguments.server) as channel:
        resolve_services(channel)
        service = evaluation_service_pb2_grpc.EvaluationServiceStub(channel)
        refusal(service)
        for path in arguments.manifests:
            result = evaluate(service, path)
            for model in result["models"]:
                framework = result["system"]["framework"]
                assert model["estimate_ms"] > 0 and model["coverage"] == 1, model
                print(f"estimate: {model['name']} takes {model['estimate_ms']:.3f} ms by {framework}")
        if arguments.result:
            with open(arguments.result, "w") as file:
                json.dump(result, file)


if __name__ == "__main__":
    sys.exit(main())
