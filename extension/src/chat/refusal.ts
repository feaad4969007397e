import { LanguageModelError, l10n } from "vscode";
import { Problem } from "../problem";
import { messageLine } from "../text/untrusted";

/**
 * Why no model has answered, in a sentence.
 *
 * @param reason What the model failed with; a problem if it was not asked for want of room.
 */
export function refusalOf(reason: unknown, modelName: string): string {
  const name = messageLine(modelName);
  if (reason instanceof Problem) {
    return l10n.t("The evidence does not fit into the input of the model {0}.", name);
  }
  switch (reason instanceof LanguageModelError ? reason.code : "") {
    case LanguageModelError.NoPermissions.name:
      return l10n.t("ADK Evidence is not allowed to use the model {0}.", name);
    case LanguageModelError.Blocked.name:
      return l10n.t("The model {0} refused the request, or its quota is used up.", name);
    case LanguageModelError.NotFound.name:
      return l10n.t("The model {0} is not there any more. Choose another one.", name);
    default:
      return l10n.t("The model {0} gave no answer.", name);
  }
}
