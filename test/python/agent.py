"""An agent for another framework in another language: the ONNX project's reference evaluator, in Python.

agent.py [--listen HOST:PORT]

It shares nothing with the platform but the contract in proto/. It measures benchmarks and infers types. It optimizes no
graphs and keeps no profile, and its description says so. The stubs are found by PYTHONPATH.
"""

import argparse
import os
import platform
import threading
import time
from concurrent import futures

import grpc
import numpy
import onnx
from onnx.reference import ReferenceEvaluator

from mlmodelscope.benchmark.v1 import benchmark_pb2 as pb
from mlmodelscope.benchmark.v1 import benchmark_pb2_grpc

MIB = 2**20


def system():
    """The facts from which the platform computes the fingerprint. What is sent as fingerprint has no effect."""
    return pb.System(
        fingerprint="ignored",
        processor=platform.processor() or platform.machine(),
        architecture=platform.machine(),
        operating_system=f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        framework="onnx-reference",
        framework_version=onnx.__version__,
    )


def values_of(given):
    """Made-up values of an input: those that were sent, repeated, or uniform ones from the seed."""
    dims = [int(dim) for dim in given.dims]
    kind = numpy.dtype(given.element_type)
    count = int(numpy.prod(dims))
    if given.values:
        return numpy.resize(numpy.array(given.values), count).astype(kind).reshape(dims)
    uniform = numpy.random.default_rng(given.seed).uniform(given.low, given.high, count)
    return uniform.astype(kind).reshape(dims)


class Stopped(Exception):
    """The client no longer waits."""


class Agent(benchmark_pb2_grpc.BenchmarkServiceServicer):
    def __init__(self):
        self.turn = threading.Lock()

    def DescribeSystem(self, request, context):
        return pb.DescribeSystemResponse(
            system=system(),
            hostname=platform.node(),
            abilities=[pb.ABILITY_MEASURE, pb.ABILITY_INFER_TYPES],
        )

    def InferTypes(self, request, context):
        model = onnx.load_model_from_string(request.benchmark.model)
        names = [name for node in model.graph.node for name in node.output if name]
        del model.graph.output[:]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
        feeds = {given.name: values_of(given) for given in request.benchmark.inputs}
        with self.turn:
            values = dict(zip(names, ReferenceEvaluator(model).run(None, feeds)))
        return pb.InferTypesResponse(values=[self.typed(name, value) for name, value in values.items()])

    def typed(self, name, value):
        array = numpy.asarray(value)
        small = array.dtype.kind in "iub" and array.size <= 1024
        return pb.ValueType(
            name=name,
            element_type=str(array.dtype),
            dims=array.shape,
            content=array.tobytes() if small else None,
        )

    def Measure(self, request, context):
        with self.turn:
            yield from self.measured(request, context)

    def measured(self, request, context):
        protocol = request.protocol
        total = protocol.warmup_runs + protocol.runs
        start = time.perf_counter()

        def elapsed_ms():
            return (time.perf_counter() - start) * 1e3

        def progress(phase, done):
            if not context.is_active():
                raise Stopped()
            return pb.MeasureResponse(progress=pb.Progress(phase=phase, runs_done=done, runs_total=total))

        def result(session_ms, **outcome):
            measurement = pb.Measurement(
                signature=request.benchmark.signature,
                cost_ms=elapsed_ms(),
                session_ms=session_ms,
                peak_memory_bytes=100 * MIB,
                **outcome,
            )
            return pb.MeasureResponse(measurement=measurement)

        try:
            yield progress(pb.Progress.PHASE_PREPARING, 0)
            try:
                session = ReferenceEvaluator(onnx.load_model_from_string(request.benchmark.model))
            except Exception as refusal:
                failure = pb.Failure(reason=pb.Failure.REASON_UNSUPPORTED, message=str(refusal)[:500])
                yield result(elapsed_ms(), failure=failure)
                return
            feeds = {given.name: values_of(given) for given in request.benchmark.inputs}
            session_ms = elapsed_ms()
            budget_ms = protocol.time_budget.ToTimedelta().total_seconds() * 1e3
            limit_ms = protocol.time_limit.ToTimedelta().total_seconds() * 1e3
            times = []
            for done in range(total):
                timed = done - protocol.warmup_runs
                if timed >= protocol.min_runs and sum(times[protocol.warmup_runs :]) >= budget_ms:
                    break
                yield progress(pb.Progress.PHASE_RUNNING, done)
                before = time.perf_counter()
                session.run(None, feeds)
                times.append((time.perf_counter() - before) * 1e3)
                if elapsed_ms() > limit_ms:
                    failure = pb.Failure(reason=pb.Failure.REASON_TIMEOUT, message=f"more than {limit_ms} ms")
                    yield result(session_ms, failure=failure)
                    return
            yield pb.MeasureResponse(
                progress=pb.Progress(phase=pb.Progress.PHASE_RUNNING, runs_done=len(times), runs_total=len(times))
            )
            warmups, runs = times[: protocol.warmup_runs], times[protocol.warmup_runs :]
            yield result(session_ms, samples=pb.Samples(run_ms=runs, warmup_ms=warmups))
        except Stopped:
            return
        except Exception as failed:
            failure = pb.Failure(reason=pb.Failure.REASON_RUN_FAILED, message=str(failed)[:500])
            yield result(elapsed_ms(), failure=failure)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--listen", default="127.0.0.1:0")
    listen = parser.parse_args().listen
    # Graphs are larger than the default limit of a message.
    server = grpc.server(futures.ThreadPoolExecutor(4), options=[("grpc.max_receive_message_length", 64 * MIB)])
    benchmark_pb2_grpc.add_BenchmarkServiceServicer_to_server(Agent(), server)
    port = server.add_insecure_port(listen)
    server.start()
    print(f"agent listening on {listen.rsplit(':', 1)[0]}:{port}", flush=True)
    server.wait_for_termination()


if __name__ == "__main__":
    main()
