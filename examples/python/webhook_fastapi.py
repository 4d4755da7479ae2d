"""Receives the events of triggers, with FastAPI.

    ACE_WEBHOOK_SECRET=whsec_… uvicorn webhook_fastapi:app --port 3000
"""

import os

from ace import WebhookVerificationError, verify_webhook
from fastapi import FastAPI, HTTPException, Request, Response

app = FastAPI()
seen = set()  # of a real receiver: a table, in the transaction that handles the event


@app.post("/webhook")
async def webhook(request: Request) -> Response:
    try:
        # The signature is over the bytes of the body: they must not be parsed before.
        event = verify_webhook(await request.body(), request.headers, os.environ["ACE_WEBHOOK_SECRET"])
    except WebhookVerificationError as error:
        raise HTTPException(400, error.code)
    if event.event_id not in seen:
        seen.add(event.event_id)  # an event may arrive twice
        print(event.type + ":", event.data.title, flush=True)
    return Response(status_code=204)
