// Try a garment on: node try_on.ts PERSON GARMENT CATEGORY RESULT, such as me.jpg shirt.jpg upper_body out.jpg.
// VTO_BASE_URL and VTO_API_KEY say where the service is and who is calling. Needs Node 22.18.

import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

type Category = "upper_body" | "lower_body" | "full_body";

type Poll =
  | { status: "processing" }
  | { status: "completed"; resultImageBase64: string; generationTimeMs: number }
  | { status: "failed"; error: string };

const MAX_RETRIES = 3;
const LONGEST_CLAIM_MS = 90_000;
const LONGEST_PAUSE_SECONDS = 60;
/** How long a poll is tried again, however often and after whatever pauses: its job was accepted, and is billed. */
const PATIENCE_MS = 600_000;

/** The service said no. Decide by `status` and `code`; `message` is for people. */
class TryOnApiError extends Error {
  readonly status: number;
  readonly code: string | null;
  readonly retryAfter: number | null;

  constructor(response: Response, sentence: string) {
    super(sentence);
    this.status = response.status;
    this.code = response.headers.get("X-Error-Code");
    const seconds = Number(response.headers.get("Retry-After"));
    this.retryAfter = seconds > 0 ? seconds : null;
  }

  get mayPass(): boolean {
    if (this.status === 429) return this.code === "rate_limited" || this.code === null; // proxies name no code
    return [408, 500, 502, 503, 504].includes(this.status);
  }
}

/** Seconds until another try, or null for none: there are a few, or as many as there is time for. */
function pauseAfter(error: unknown, retries: number, deadline: number | null): number | null {
  const refusal = error instanceof TryOnApiError ? error : null;
  if (refusal && !refusal.mayPass) return null;
  const pause = refusal?.retryAfter ?? Math.min(8, 0.5 * 2 ** retries) * (0.5 + Math.random() / 2);
  if (deadline) return Date.now() + 1000 * pause < deadline ? pause : null;
  return retries < MAX_RETRIES && pause <= LONGEST_PAUSE_SECONDS ? pause : null;
}

/** Send a request, and send it again where that may help. */
async function send<Answer>(path: string, init: RequestInit, deadline: number | null = null): Promise<Answer> {
  const headers = { Authorization: `Bearer ${process.env.VTO_API_KEY}`, ...init.headers };
  const free = Date.now() + LONGEST_CLAIM_MS;
  for (let retries = 0, conflicts = 0; ; ) {
    try {
      const response = await fetch(`${process.env.VTO_BASE_URL}${path}`, { ...init, headers });
      const text = await response.text();
      if (response.ok) return JSON.parse(text) as Answer;
      throw new TryOnApiError(response, sentenceIn(text));
    } catch (error) {
      // An earlier try, whose answer was lost, still has the key: for a minute at most.
      const taken = error instanceof TryOnApiError && error.code === "idempotency_in_progress" && Date.now() < free;
      const pause = taken ? Math.min(8, 2 ** conflicts++) : pauseAfter(error, retries++, deadline);
      if (pause === null) throw error;
      await sleep(1000 * pause);
    }
  }
}

function sentenceIn(text: string): string {
  try {
    return (JSON.parse(text) as { error: string }).error;
  } catch {
    return "The answer had no explanation.";
  }
}

/** The service looks at the bytes, not at the label: PNG and WebP are as good. */
async function inline(path: string): Promise<string> {
  return `data:image/jpeg;base64,${(await readFile(path)).toString("base64")}`;
}

async function start(person: string, garment: string, category: Category): Promise<string> {
  const { jobId } = await send<{ jobId: string }>("/api/v1/tryon", {
    method: "POST",
    // One key for all retries: whatever is lost on the way, one job is started and billed.
    headers: { "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
    body: JSON.stringify({
      customerPhotoBase64: await inline(person),
      garmentImageUrl: await inline(garment),
      category,
    }),
  });
  return jobId;
}

async function picture(jobId: string): Promise<Buffer> {
  for (;;) {
    // The server holds the answer until the job has ended, or 25 seconds have passed.
    const deadline = Date.now() + PATIENCE_MS;
    const poll = await send<Poll>(`/api/v1/tryon/${jobId}`, { headers: { Prefer: "wait=25" } }, deadline);
    if (poll.status === "failed") throw new Error(poll.error);
    if (poll.status === "completed") return Buffer.from(poll.resultImageBase64.split(",")[1] ?? "", "base64");
    await sleep(2000);
  }
}

const [person, garment, category, result] = process.argv.slice(2) as [string, string, Category, string];
let job: string | null = null;
try {
  job = await start(person, garment, category);
  await writeFile(result, await picture(job));
  console.log(result);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  if (job) console.error(`Job: ${job}`);
  process.exitCode = 1;
}
