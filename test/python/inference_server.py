"""A server of the Open Inference Protocol, version 2, over gRPC, which multiplies by a matrix with NumPy.

inference_server.py [--listen HOST:PORT]

It shares nothing with the platform but the protocol. The stubs are found by PYTHONPATH.
"""

import argparse
from concurrent import futures

import grpc
import numpy

from inference import inference_pb2 as pb
from inference import inference_pb2_grpc

WIDTH = 64
WEIGHTS = numpy.random.default_rng(1).uniform(-1, 1, (WIDTH, WIDTH)).astype(numpy.float32)


class Inference(inference_pb2_grpc.GRPCInferenceServiceServicer):
    def ModelMetadata(self, request, context):
        if request.name != "product":
            context.abort(grpc.StatusCode.NOT_FOUND, f"no model {request.name}")
        tensor = pb.ModelMetadataResponse.TensorMetadata(name="x", datatype="FP32", shape=[-1, WIDTH])
        return pb.ModelMetadataResponse(name=request.name, versions=["1"], platform="numpy", inputs=[tensor])

    def ModelInfer(self, request, context):
        (tensor,) = request.inputs
        values = numpy.frombuffer(request.raw_input_contents[0], numpy.float32).reshape(tensor.shape)
        if not numpy.isfinite(values @ WEIGHTS).all():
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the inputs are not finite")
        return pb.ModelInferResponse(model_name=request.model_name, model_version="1", id=request.id)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--listen", default="127.0.0.1:0")
    asked = parser.parse_args()
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=1))
    inference_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(Inference(), server)
    port = server.add_insecure_port(asked.listen)
    server.start()
    print(f"listening on {asked.listen.rsplit(':', 1)[0]}:{port}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
