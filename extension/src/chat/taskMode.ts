import type { TaskMode } from "../webview/messages";
import { oneOf } from "../webview/shape";

/** Whether it is a task mode. The commands of the participant are task modes. */
export const isTaskMode = oneOf<TaskMode>("build", "debug", "explain", "refactor");
