import { type Browser, chromium } from "playwright-core";

/** Starts the browser that extension/test/run.mjs found, without a window and without talk to the world. Close it. */
export function launchChromium(): Promise<Browser> {
  const executablePath = process.env.ADK_EVIDENCE_CHROMIUM;
  if (!executablePath) {
    throw new Error("ADK_EVIDENCE_CHROMIUM does not name a browser: use `npm run test:extension`");
  }
  return chromium.launch({
    executablePath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
