/** The chat participant @adk. */

import * as vscode from "vscode";
import { PARTICIPANT } from "../ids";
import { factsOf, followupsOf } from "./followups";
import { Turn, type TurnParts } from "./turn";

/** Registers the participant. */
export function registerParticipant(parts: TurnParts, extensionUri: vscode.Uri): vscode.Disposable {
  const participant = vscode.chat.createChatParticipant(PARTICIPANT, (request, { history }, response, token) =>
    new Turn(parts, request, history, response, token).run(),
  );
  const media = vscode.Uri.joinPath(extensionUri, "extension", "media");
  participant.iconPath = {
    light: vscode.Uri.joinPath(media, "panel-light.svg"),
    dark: vscode.Uri.joinPath(media, "panel-dark.svg"),
  };
  participant.followupProvider = {
    provideFollowups({ metadata }) {
      const facts = factsOf(metadata);
      return facts === null ? [] : followupsOf(facts);
    },
  };
  return participant;
}
