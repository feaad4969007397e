"""Right requests of google-genai in several spellings."""

import asyncio

from google import genai
from google.genai import errors, types
from google.genai.types import Part as P

client = genai.Client(vertexai=False, api_key="none")
content: types.ContentDict = {"role": "user", "parts": [{"text": "hi"}]}
turns = [types.Content.model_validate(content), types.Content(parts=[P("one"), P(text="two")], role="user")]
blob = P(inlineData={"mimeType": "text/plain", "data": b"x"})
called = P.from_function_call(name="add", args={"a": 1})
answered = P.from_function_response(name="add", response={"sum": 1})
config = types.GenerateContentConfig(
    tools=[{"googleSearch": {}}, types.Tool(functionDeclarations=[types.FunctionDeclaration(name="add")])],
    toolConfig=types.ToolConfig(functionCallingConfig={"mode": "ANY"}),
    responseSchema=int,
    systemInstruction="Be short.",
)
config.top_p = 0.3
voice = types.SpeechConfig(
    voice_config=types.VoiceConfig(prebuilt_voice_config=types.PrebuiltVoiceConfig(voiceName="Kore"))
)
block = types.HarmBlockThreshold("BLOCK_NONE")
unknown = types.HarmCategory("HARM_CATEGORY_NEW")


async def ask(text: str) -> str | None:
    waiting = [client.aio.models.generate_content(model="gemini-2.5-flash", contents=one) for one in (text, turns)]
    try:
        first, second = await asyncio.gather(*waiting)
    except errors.APIError as error:
        return error.message
    chat = client.aio.chats.create(model="gemini-2.5-flash")
    stream = await chat.send_message_stream("more")
    async for chunk in stream:
        print(chunk.text, first.text)
    return second.text and second.candidates[0].content.parts[0].text


def count(text: str) -> int:
    return client.models.count_tokens(model="gemini-2.5-flash", contents=text).total_tokens or 0
