"""The lab's addresses: the page, what it asks for over HTTP, and the WebSocket."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
import math
import mimetypes
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from botz.errors import BotzError, InputError
from botz.record.plain_json import finite
from botz.view.lab import messages as said
from botz.view.lab.catalogue import picture_of
from botz.view.lab.clients import MOST_CLIENTS, Client, Dropped
from botz.view.lab.exports import TYPES, plain_name
from botz.view.lab.forms import form_of, with_ground
from botz.view.lab.guard import Guarded, address_of, client_of, discard_body, printable
from botz.view.lab.lab import GZIP_LEVEL, InitialRun, Lab, Picture
from botz.view.lab.recordings import name_of, scenario_of
from botz.view.lab.sentences import LabError, Sentence, told

logger = logging.getLogger("botz.lab")
HELLO_SECONDS = 10.0
"""How long a stranger's new connection may take to say who it is [s]."""
LOADING_SECONDS = 120.0
"""How long one with the cookie may: its page is ours, and on a busy machine says nothing while it builds its picture.
Whether it is still there, the pings of the connection find out sooner."""
TOO_MANY_DROPPED = "too many pages of yours were dropped; wait"
LARGEST_BODY = 1 << 16
MOST_DATA_CHANNELS = 2000
GLB = "model/gltf-binary"
FLOATS = "application/octet-stream"
GZIPPED = {"content-encoding": "gzip", "vary": "accept-encoding"}
WORTH_PACKING = (".js", ".css", ".svg", ".json", ".wasm")

Answer = Callable[[Request], Awaitable[Response]]


class LabApp(Guarded):
    """The whole application behind its guard."""

    def __init__(self, lab: Lab, client_folder: Path | None, initial: InitialRun | None = None):
        self.lab = lab
        super().__init__(application(lab, client_folder, initial), lab.guard)


def application(lab: Lab, client_folder: Path | None, initial: InitialRun | None) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        starting = asyncio.create_task(lab.start_initial(initial)) if initial is not None else None
        yield
        if starting is not None and not starting.done():
            starting.cancel()
        await lab.close()

    routes = [
        Route("/api/health", health),
        Route("/api/scenarios", answering(scenarios)),
        Route("/api/form", answering(form)),
        Route("/api/pictures/{name}", answering(picture)),
        Route("/api/recordings", answering(recordings)),
        Route("/api/recordings/{id}", answering(delete_recording), methods=["DELETE"]),
        Route("/api/recordings/{id}/name", answering(rename_recording), methods=["POST"]),
        Route("/api/recordings/{id}/recording.mcap", answering(recording_file)),
        Route("/api/recordings/{id}/recording.csv", answering(recording_table)),
        Route("/api/recordings/{id}/info", answering(recording_info)),
        Route("/api/recordings/{id}/scene.glb", answering(recording_scene)),
        Route("/api/recordings/{id}/data", answering(recording_data)),
        Route("/api/recordings/{id}/workspace", answering(recording_workspace)),
        Route("/api/recordings/{id}/export", answering(export), methods=["POST"]),
        Route("/api/runs/{id}/scene.glb", answering(run_scene)),
        Route("/api/runs/{id}/workspace", answering(run_workspace)),
        Route("/api/exports/{id}", answering(export_status)),
        Route("/api/exports/{id}", answering(cancel_export), methods=["DELETE"]),
        Route("/api/exports/{id}/file", answering(export_file)),
        WebSocketRoute("/ws", websocket),
        *page_routes(client_folder),
    ]
    app = Starlette(routes=routes, lifespan=lifespan)
    app.state.lab = lab
    return app


def page_routes(folder: Path | None) -> list[Route]:
    """The built page. Its files are listed once; what is asked for is looked up in that list."""
    files: dict[str, Path] = {}
    if folder is not None and folder.is_dir():
        base = folder.resolve()
        files = {path.relative_to(base).as_posix(): path for path in base.rglob("*") if path.is_file()}

    def sent(name: str, *, lasting: bool = False) -> Response:
        path = files.get(name)
        if path is None:
            return PlainTextResponse("no such file\n", 404)
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        if name.endswith(".js"):
            kind = "text/javascript"  # whatever the system's list of types says
        keep = "public, max-age=31536000, immutable" if lasting else "no-cache"
        return FileResponse(path, media_type=kind, headers={"cache-control": keep})

    async def index(request: Request) -> Response:
        if "index.html" not in files:
            return PlainTextResponse("The page of the lab has not been built.\n", 503)
        return sent("index.html")

    packed: dict[str, bytes] = {}
    """Files by gzip, made when they are first asked for; their names change with what is in them."""

    async def asset(request: Request) -> Response:
        name = f"assets/{request.path_params['name']}"
        answer = sent(name, lasting=True)
        if answer.status_code != 200 or not name.endswith(WORTH_PACKING) or not takes_gzip(request):
            return answer
        if name not in packed:
            packed[name] = await asyncio.to_thread(lambda: gzip.compress(files[name].read_bytes(), GZIP_LEVEL))
        keep = {"cache-control": answer.headers["cache-control"], **GZIPPED}
        return Response(packed[name], media_type=answer.media_type, headers=keep)

    async def icon(request: Request) -> Response:
        return sent("favicon.ico") if "favicon.ico" in files else Response(status_code=204)

    return [Route("/", index), Route("/favicon.ico", icon), Route("/assets/{name:path}", asset)]


# --- HTTP ------------------------------------------------------------------------------------------------------


def lab_of(request: Request | WebSocket) -> Lab:
    lab: Lab = request.app.state.lab
    return lab


def answering(answer: Answer) -> Answer:
    """Mistakes become answers with their text: 404 for what is not there, 422 for what is wrong."""

    async def guarded(request: Request) -> Response:
        try:
            response = await answer(request)
        except InputError as error:
            missing = str(error).startswith("no ")
            return JSONResponse(told(error, "error"), 404 if missing else 422)
        except BotzError as error:
            return JSONResponse(told(error, "error"), 500)
        except TooLarge:
            return JSONResponse(told(Sentence("request.large", most=LARGEST_BODY), "error"), 413)
        except ClientDisconnect:
            return Response(status_code=400)  # it has gone before it had said all; nobody reads this
        except Exception:
            logger.exception("botz: lab: no answer to %s", printable(request.url.path))
            return JSONResponse(told(Sentence("lab.failed"), "error"), 500)
        response.headers.setdefault("cache-control", "no-store")
        return response

    return guarded


async def health(request: Request) -> Response:
    lab = lab_of(request)
    counts = {"clients": len(lab.clients), "runs": sum(run.going_on for run in lab.runs)}
    return JSONResponse({"status": "ok", "token": True, **counts})


async def scenarios(request: Request) -> Response:
    return plain_json(await asyncio.to_thread(lab_of(request).catalogue.entries))


async def form(request: Request) -> Response:
    lab, query = lab_of(request), request.query_params
    if "recording" in query:
        opened = await lab.recordings.open(query["recording"])
        loaded = await asyncio.to_thread(scenario_of, opened)
    else:
        loaded = await asyncio.to_thread(lab.catalogue.load, query.get("scenario", ""))
    return plain_json(form_of(await asyncio.to_thread(with_ground, loaded, query.get("terrain"))))


async def picture(request: Request) -> Response:
    path = picture_of(request.path_params["name"])
    if path is None:
        return JSONResponse(told(Sentence("none.scenario", name=request.path_params["name"][:100]), "error"), 404)
    return FileResponse(path, media_type="image/webp", headers={"cache-control": "max-age=3600"})


async def recordings(request: Request) -> Response:
    return plain_json(await asyncio.to_thread(lab_of(request).recordings.entries))


async def recording_info(request: Request) -> Response:
    return plain_json(await lab_of(request).recordings.info(request.path_params["id"]))


async def recording_scene(request: Request) -> Response:
    return picture_response(request, await lab_of(request).recording_scene(request.path_params["id"]))


async def run_scene(request: Request) -> Response:
    return picture_response(request, await lab_of(request).run_scene(request.path_params["id"]))


def picture_response(request: Request, picture: Picture) -> Response:
    if takes_gzip(request):
        return Response(picture.packed, media_type=GLB, headers=GZIPPED)
    return Response(picture.glb, media_type=GLB, headers={"vary": "accept-encoding"})


def takes_gzip(request: Request) -> bool:
    for part in request.headers.get("accept-encoding", "").split(","):
        name, _, weight = part.replace(" ", "").lower().partition(";q=")
        if name == "gzip":
            return weight.strip("0.") != "" or not weight
    return False


async def recording_data(request: Request) -> Response:
    query = request.query_params
    names = [name for name in query.get("channels", "").split(",") if name]
    if len(names) > MOST_DATA_CHANNELS:
        raise LabError(Sentence("data.most", most=MOST_DATA_CHANNELS))
    start = number(query.get("from"), "from", 0.0)
    end = number(query.get("to"), "to", math.inf)
    rate = number(query.get("rate"), "rate", 60.0)
    if rate <= 0.0:
        raise LabError(Sentence("data.rate"))
    data, columns = await lab_of(request).recordings.data(request.path_params["id"], names, start, end, rate)
    return Response(data, media_type=FLOATS, headers={"x-botz-columns": str(columns)})


async def recording_workspace(request: Request) -> Response:
    robot = request.query_params.get("robot", "")
    points = await lab_of(request).workspace(robot, recording=request.path_params["id"])
    return Response(points, media_type=FLOATS, headers={"x-botz-columns": "3"})


async def run_workspace(request: Request) -> Response:
    robot = request.query_params.get("robot", "")
    points = await lab_of(request).workspace(robot, run=request.path_params["id"])
    return Response(points, media_type=FLOATS, headers={"x-botz-columns": "3"})


class TooLarge(Exception):
    """A body of more than LARGEST_BODY."""


async def json_of(request: Request) -> Any:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            await discard_body(request.receive)
            raise TooLarge
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise LabError(Sentence("request.json")) from None


async def rename_recording(request: Request) -> Response:
    body = await json_of(request)
    name = body.get("name") if isinstance(body, dict) else None
    if not isinstance(name, str):
        raise LabError(Sentence("recording.name"))
    recordings = lab_of(request).recordings
    return JSONResponse({"name": await asyncio.to_thread(recordings.rename, request.path_params["id"], name)})


async def delete_recording(request: Request) -> Response:
    await lab_of(request).delete_recording(request.path_params["id"])
    return JSONResponse({"deleted": request.path_params["id"]})


async def recording_file(request: Request) -> Response:
    lab, key = lab_of(request), request.path_params["id"]
    lab.check_written(key)
    path = await asyncio.to_thread(lab.recordings.path_of, key)
    return FileResponse(path, media_type=FLOATS, filename=plain_name(name_of(path.parent) or key, ".mcap"))


async def recording_table(request: Request) -> Response:
    key = request.path_params["id"]
    folder = await asyncio.to_thread(tempfile.mkdtemp, prefix="botz-lab-csv-")
    clean = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    try:
        recordings = lab_of(request).recordings
        path = await recordings.table(key, Path(folder))
        name = name_of((await asyncio.to_thread(recordings.path_of, key)).parent) or key
    except BaseException:
        await clean()
        raise
    kind = "text/csv" if path.suffix == ".csv" else "application/zip"
    return FileResponse(path, media_type=kind, filename=plain_name(name, path.suffix), background=clean)


async def export(request: Request) -> Response:
    job = await lab_of(request).exports.ask(request.path_params["id"], await json_of(request))
    return JSONResponse({"job": job.id})


async def cancel_export(request: Request) -> Response:
    return JSONResponse((await lab_of(request).exports.cancel(request.path_params["id"])).described())


async def export_status(request: Request) -> Response:
    return JSONResponse(lab_of(request).exports.job(request.path_params["id"]).described())


async def export_file(request: Request) -> Response:
    job = lab_of(request).exports.job(request.path_params["id"])
    if job.status != "done":
        raise LabError(Sentence("export.early"))
    return FileResponse(job.path, media_type=TYPES[job.wanted.format], filename=job.file_name)


def plain_json(value: Any) -> Response:
    """JSON that any browser takes: numbers that are not finite become null."""
    return JSONResponse(finite(value))


def number(text: str | None, key: str, default: float) -> float:
    if text is None or text == "":
        return default
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if math.isnan(found):
        raise LabError(Sentence("form.number", key=key, value=text[:60]))
    return found


# --- WebSocket -------------------------------------------------------------------------------------------------


async def websocket(socket: WebSocket) -> None:
    lab = lab_of(socket)
    address = client_of(socket.scope)
    if not lab.has_room():
        lab.guard.refusals.note("too many pages", address)
        await socket.send_denial_response(PlainTextResponse(f"{MOST_CLIENTS} pages are open already\n", 503))
        return
    client = Client(socket, address, lambda why: lab.guard.refusals.note("page dropped", f"{why}, from {address}"))
    drops = lab.guard.places.drops(client.transport, address_of(address))
    if drops.is_spent:
        lab.guard.refusals.note("too many pages dropped", address)
        await socket.send_denial_response(PlainTextResponse(f"{TOO_MANY_DROPPED}\n", 429))
        return
    await socket.accept()
    try:
        if not await introduced(lab, client):
            return
        drops = lab.guard.places.drops(client.transport, address_of(address))  # it may have been a stranger before
        await converse(lab, client)
    except Dropped as reason:
        drops.spend()
        lab.guard.refusals.note("page dropped", f"{reason}, from {address}")
        await client.close(1008, str(reason))
    except (WebSocketDisconnect, RuntimeError):
        pass  # it has gone, perhaps while something was sent
    finally:
        lab.farewell(client)


async def introduced(lab: Lab, client: Client) -> bool:
    """The first message says who it is, and knows the token where one is needed."""
    is_known = lab.guard.has_cookie(client.scope)
    patience = LOADING_SECONDS if is_known else HELLO_SECONDS
    try:
        async with asyncio.timeout(patience):
            message = said.understood(await client.receive())
    except TimeoutError:
        raise Dropped(f"said nothing for {patience:g} s") from None
    except said.BadMessage as error:
        raise Dropped(f"no hello: {error}") from None
    if not isinstance(message, said.Hello):
        raise Dropped("no hello")
    if not is_known:
        why = await lab.guard.check(message.token, client.address)
        if why is not None:
            await client.close(4401, str(why))
            return False
    if not lab.guard.places.admit(client.transport) or not lab.has_room():
        raise Dropped(f"{MOST_CLIENTS} pages are open already")
    if lab.guard.places.drops(client.transport, address_of(client.address)).is_spent:
        lab.guard.refusals.note("too many pages dropped", client.address)
        await client.close(1013, TOO_MANY_DROPPED)
        return False
    if not lab.guard.places.entries.of(address_of(client.address)).spend():
        await client.close(1013, "too many pages come and go; wait")
        return False
    lab.welcome(client, message.name)
    return True


async def converse(lab: Lab, client: Client) -> None:
    """Listen and tell at once, until the page goes or is dropped."""

    async def listen() -> None:
        while True:
            data = await client.receive()
            try:
                message = said.understood(data)
            except said.BadMessage as error:
                client.mistake(error)
                continue
            await lab.answer(client, message)

    tasks = [asyncio.create_task(listen()), asyncio.create_task(client.send_all())]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        lab.farewell(client)  # at once: a robot may be rolling
        for task in tasks:
            task.cancel()
        endings = await asyncio.gather(*tasks, return_exceptions=True)
    # A page that was dropped has also gone; that it was dropped is what is to be told.
    errors = [ending for ending in endings if isinstance(ending, Exception)]
    if errors:
        raise min(errors, key=lambda error: not isinstance(error, Dropped))
