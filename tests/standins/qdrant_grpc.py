"""The stand-in's gRPC side: each call is translated with the client's own conversions and answered as over REST."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
from qdrant_client import grpc as proto
from qdrant_client.conversions.conversion import GrpcToRest, RestToGrpc
from qdrant_client.grpc.collections_service_pb2_grpc import CollectionsServicer, add_CollectionsServicer_to_server
from qdrant_client.grpc.points_service_pb2_grpc import PointsServicer, add_PointsServicer_to_server
from qdrant_client.grpc.qdrant_pb2_grpc import QdrantServicer, add_QdrantServicer_to_server
from qdrant_client.http import models

from tests.standins.qdrant import OPEN_PATH, ApiError, QdrantStandIn, Seen

CODES = {
    400: grpc.StatusCode.INVALID_ARGUMENT,
    401: grpc.StatusCode.UNAUTHENTICATED,
    404: grpc.StatusCode.NOT_FOUND,
    409: grpc.StatusCode.ALREADY_EXISTS,
    422: grpc.StatusCode.INVALID_ARGUMENT,
    429: grpc.StatusCode.RESOURCE_EXHAUSTED,
    500: grpc.StatusCode.INTERNAL,
    503: grpc.StatusCode.UNAVAILABLE,
}

STATUSES = {
    "acknowledged": proto.UpdateStatus.Acknowledged,
    "completed": proto.UpdateStatus.Completed,
    "wait_timeout": proto.UpdateStatus.WaitTimeout,
}


@contextmanager
def grpc_port(stand_in: QdrantStandIn) -> Iterator[int]:
    """Serve a stand-in over gRPC, too."""
    server = grpc.server(ThreadPoolExecutor(8))
    add_CollectionsServicer_to_server(_Collections(stand_in), server)
    add_PointsServicer_to_server(_Points(stand_in), server)
    add_QdrantServicer_to_server(_Health(stand_in), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield port
    finally:
        server.stop(None).wait()


def _plain(model: Any) -> Any:
    return model.model_dump(mode="json", exclude_none=True)


class _Service:
    def __init__(self, stand_in: QdrantStandIn) -> None:
        self._stand_in = stand_in

    def _ask(self, context: grpc.ServicerContext, method: str, path: str, body: Any = None, wait: bool = False) -> Any:
        stand_in = self._stand_in
        key = dict(context.invocation_metadata()).get("api-key")
        if stand_in.key is not None and path != OPEN_PATH and key != stand_in.key:
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "Invalid API key or JWT")
        query = {"wait": ["true" if wait else "false"]}
        seen = Seen(method, path, query, body)
        stand_in.seen.append(seen)
        rule = stand_in.rule_for(seen.line)
        try:
            if rule is not None:
                if not isinstance(rule.fault, ApiError):
                    raise NotImplementedError(f"{rule.fault} over gRPC")
                raise rule.fault
            return stand_in.answer(method, path, query, body)
        except ApiError as exc:
            context.set_trailing_metadata(tuple((name.lower(), value) for name, value in exc.headers.items()))
            context.abort(CODES[exc.status], exc.message)


class _Health(_Service, QdrantServicer):
    def HealthCheck(self, request: Any, context: Any) -> Any:
        found = self._ask(context, "GET", "/")
        return proto.HealthCheckReply(title=found["title"], version=found["version"])


class _Collections(_Service, CollectionsServicer):
    def Create(self, request: Any, context: Any) -> Any:
        body = {
            "vectors": {
                name: _plain(params)
                for name, params in GrpcToRest.convert_vectors_config(request.vectors_config).items()
            },
            "sparse_vectors": {
                name: _plain(params)
                for name, params in GrpcToRest.convert_sparse_vector_config(request.sparse_vectors_config).items()
            },
            "on_disk_payload": request.on_disk_payload,
        }
        done = self._ask(context, "PUT", f"/collections/{request.collection_name}", body)
        return proto.CollectionOperationResponse(result=done)

    def Delete(self, request: Any, context: Any) -> Any:
        done = self._ask(context, "DELETE", f"/collections/{request.collection_name}")
        return proto.CollectionOperationResponse(result=done)

    def List(self, request: Any, context: Any) -> Any:
        found = self._ask(context, "GET", "/collections")["collections"]
        return proto.ListCollectionsResponse(collections=[proto.CollectionDescription(**each) for each in found])

    def Get(self, request: Any, context: Any) -> Any:
        found = self._ask(context, "GET", f"/collections/{request.collection_name}")
        info = models.CollectionInfo.model_validate(found)
        return proto.GetCollectionInfoResponse(result=RestToGrpc.convert_collection_info(info))

    def ListAliases(self, request: Any, context: Any) -> Any:
        found = self._ask(context, "GET", "/aliases")["aliases"]
        return proto.ListAliasesResponse(aliases=[proto.AliasDescription(**each) for each in found])

    def UpdateAliases(self, request: Any, context: Any) -> Any:
        actions = [_plain(GrpcToRest.convert_alias_operations(action)) for action in request.actions]
        done = self._ask(context, "POST", "/collections/aliases", {"actions": actions})
        return proto.CollectionOperationResponse(result=done)


class _Points(_Service, PointsServicer):
    def CreateFieldIndex(self, request: Any, context: Any) -> Any:
        params = _plain(GrpcToRest.convert_payload_schema_params(request.field_index_params))
        body = {"field_name": request.field_name, "field_schema": params}
        return self._update(request, context, "PUT", "/index", body)

    def Upsert(self, request: Any, context: Any) -> Any:
        body = {"points": [_plain(GrpcToRest.convert_point_struct(point)) for point in request.points]}
        return self._update(request, context, "PUT", "/points", body)

    def Delete(self, request: Any, context: Any) -> Any:
        return self._update(
            request, context, "POST", "/points/delete", _plain(GrpcToRest.convert_points_selector(request.points))
        )

    def SetPayload(self, request: Any, context: Any) -> Any:
        selector = _plain(GrpcToRest.convert_points_selector(request.points_selector))
        body = {**selector, "payload": GrpcToRest.convert_payload(request.payload)}
        return self._update(request, context, "POST", "/points/payload", body)

    def _update(self, request: Any, context: Any, method: str, path: str, body: Any) -> Any:
        done = self._ask(context, method, f"/collections/{request.collection_name}{path}", body, request.wait)
        result = proto.UpdateResult(operation_id=done["operation_id"], status=STATUSES[done["status"]])
        return proto.PointsOperationResponse(result=result)

    def Get(self, request: Any, context: Any) -> Any:
        body = {"ids": [GrpcToRest.convert_point_id(point) for point in request.ids], "with_payload": True}
        found = self._ask(context, "POST", f"/collections/{request.collection_name}/points", body)
        return proto.GetResponse(result=[_record(each) for each in found])

    def Count(self, request: Any, context: Any) -> Any:
        body = {"exact": request.exact, "filter": _maybe(request, "filter", GrpcToRest.convert_filter)}
        found = self._ask(context, "POST", f"/collections/{request.collection_name}/points/count", body)
        return proto.CountResponse(result=proto.CountResult(count=found["count"]))

    def Scroll(self, request: Any, context: Any) -> Any:
        body = {
            "filter": _maybe(request, "filter", GrpcToRest.convert_filter),
            "offset": GrpcToRest.convert_point_id(request.offset) if request.HasField("offset") else None,
            "limit": request.limit,
            "with_payload": list(request.with_payload.include.fields) or request.with_payload.enable,
            "with_vector": list(request.with_vectors.include.names) or request.with_vectors.enable,
        }
        found = self._ask(context, "POST", f"/collections/{request.collection_name}/points/scroll", body)
        following = found["next_page_offset"]
        return proto.ScrollResponse(
            result=[_record(each) for each in found["points"]],
            next_page_offset=None if following is None else RestToGrpc.convert_extended_point_id(following),
        )

    def QueryBatch(self, request: Any, context: Any) -> Any:
        searches = [_plain(GrpcToRest.convert_query_points(each)) for each in request.query_points]
        path = f"/collections/{request.collection_name}/points/query/batch"
        answers = self._ask(context, "POST", path, {"searches": searches})
        return proto.QueryBatchResponse(
            result=[
                proto.BatchResult(
                    result=[
                        RestToGrpc.convert_scored_point(models.ScoredPoint.model_validate(point))
                        for point in answer["points"]
                    ]
                )
                for answer in answers
            ]
        )


def _maybe(request: Any, field: str, convert: Callable[[Any], Any]) -> Any:
    return _plain(convert(getattr(request, field))) if request.HasField(field) else None


def _record(record: Any) -> Any:
    return RestToGrpc.convert_record(models.Record.model_validate(record))
