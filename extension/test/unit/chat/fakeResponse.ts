import type { ChatResponseStream, Command, Location, Uri } from "vscode";

/** A place that a test tells from others. */
export function location(path: string): Location {
  return { uri: { path } as Uri } as Location;
}

/** Collects what is written into a response; anchors are `<title>` in its text. */
export class FakeResponse
  implements Pick<ChatResponseStream, "markdown" | "anchor" | "button" | "progress" | "reference">
{
  text = "";
  readonly anchors: unknown[] = [];
  readonly references: unknown[] = [];
  readonly buttons: Command[] = [];
  readonly progressed: string[] = [];

  markdown(value: unknown): void {
    // A trusted string would be an object.
    if (typeof value !== "string") {
      throw new TypeError("Markdown that may do more than be shown");
    }
    this.text += value;
  }

  anchor(value: Uri | Location, title?: string): void {
    this.anchors.push(value);
    this.text += `<${title}>`;
  }

  button(command: Command): void {
    this.buttons.push(command);
  }

  progress(value: string): void {
    this.progressed.push(value);
  }

  reference(value: Uri | Location): void {
    this.references.push(value);
  }
}
