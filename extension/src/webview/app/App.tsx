import { t } from "@vscode/l10n";
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef, useState } from "preact/hooks";
import { outlinesByCandidate } from "../../evidence/outlines";
import type { Candidate, EvidenceResult, RetrievalPlan } from "../../protocol/generated";
import { ACTIONS, type FromPage, type Question } from "../messages";
import { Card, type CardActions, cardElementId } from "./Card";
import { ErrorTrace } from "./ErrorTrace";
import type { EditorPort } from "./editorPort";
import { COLUMNS } from "./excerpt";
import { Filter, FilterButton } from "./Filter";
import { GetStarted } from "./GetStarted";
import { type Command, commandOf, keyOf } from "./keyboard";
import { type Event, initial, type Model, reduce, saved, toAsk } from "./model";
import { QUERY_ID, QueryLine } from "./QueryLine";
import { Sentence } from "./SafeText";
import { Empty, Failure, Loading, Nothing } from "./States";
import { Banners, countOf, Facts, keysHelp, Summary } from "./Summary";
import { termsOf } from "./terms";
import { useNarrow } from "./useNarrow";

const SAVE_AFTER_MS = 300;
const SAY_FOR_MS = 4000;
/** What a screen shows of an answer comes before the rest of the answer. */
const FIRST_CARDS = 4;

/** The Evidence page. */
export function App({ editor }: { editor: EditorPort }) {
  const [start] = useState(() => initial(editor.load()));
  const [model, dispatch] = useReducer(reduce, start);
  useEffect(() => {
    editor.listen((message) => dispatch({ type: "message", message }));
    editor.send({ type: "ready" });
  }, [editor]);
  useSaving(editor, model);
  useKeys(editor, model, dispatch);
  useFocus(model);
  const [filtering, setFiltering] = useState(false);
  const { view, draft } = model;
  if (view === null) {
    return null;
  }
  const loading = view.phase === "loading";
  const act = (id: string) => editor.send({ type: "action", id });
  const awaited = view.error?.awaited === true ? view.question.query : null;
  const card = model.job && <GetStarted job={model.job} awaited={awaited} brief={view.pack !== null} onAction={act} />;
  const ask = (question: Question) => {
    const asked = toAsk(question, view.question);
    if (asked.query !== "") {
      editor.send({ type: "ask", question: asked });
      // The next keys are for the results.
      document.getElementById(QUERY_ID)?.blur();
    }
  };
  const choose = (question: Question) => {
    dispatch({ type: "draft", draft: question });
    // Narrowing a shown result asks again; before the first question it only prepares the question.
    if (view.pack !== null) {
      ask(question);
    }
  };
  return (
    <div class={loading ? "page busy" : "page"}>
      <div class="progress" aria-hidden="true" />
      <header class="top">
        <h1 class="hidden">{t("ADK Evidence")}</h1>
        <QueryLine
          draft={draft}
          loading={loading}
          onDraft={(next) => dispatch({ type: "draft", draft: next })}
          onAsk={ask}
          onCancel={() => editor.send({ type: "cancel" })}
        />
        <div class="top-line">
          {view.pack !== null && <Summary pack={view.pack} settingUp={model.job !== null} />}
          <FilterButton question={draft} open={filtering} onToggle={() => setFiltering(!filtering)} />
        </div>
        {filtering && (
          <Filter
            draft={draft}
            onDraft={(next) => dispatch({ type: "draft", draft: next })}
            onAsk={ask}
            onChoose={choose}
          />
        )}
      </header>
      {view.pack === null && card}
      <main aria-busy={loading}>
        {view.phase === "empty" && <Empty onAsk={(query) => ask({ ...draft, query })} />}
        {loading && <Loading query={view.question.query} />}
        {view.phase === "error" && view.error !== null && !(model.job !== null && view.error.awaited) && (
          <Failure error={view.error} onAction={act} />
        )}
        {view.pack !== null && (
          <Pack key={view.current} pack={view.pack} card={card} model={model} editor={editor} dispatch={dispatch} />
        )}
      </main>
      <p class="hidden" role="status">
        {announcement(model)}
      </p>
      <Said model={model} dispatch={dispatch} />
    </div>
  );
}

interface PackProps {
  pack: EvidenceResult;
  /** On setting up, if there is one. */
  card: ReturnType<typeof GetStarted> | null;
  model: Model;
  editor: EditorPort;
  dispatch(event: Event): void;
}

function Pack({ pack, card, model, editor, dispatch }: PackProps) {
  const narrow = useNarrow();
  const terms = useMemo(() => termsOf(pack.queryUsed.text), [pack]);
  const outlines = useMemo(() => outlinesByCandidate(pack.outlines, pack.candidates), [pack]);
  const places = useMemo(() => outlinesByCandidate(pack.places, pack.candidates), [pack]);
  const painted = usePainted();
  const indexVersion = () => editor.send({ type: "action", id: ACTIONS.indexVersion });
  const candidates = painted ? pack.candidates : pack.candidates.slice(0, FIRST_CARDS);
  const actions = useMemo(
    (): CardActions => ({
      activate: (id) => dispatch({ type: "activate", id }),
      expand: (id) => dispatch({ type: "expand", id }),
      explain: (id) => dispatch({ type: "explain", id }),
      open: (candidateId, where) => editor.send({ type: "open", candidateId, where }),
      openCitation: (citation) => editor.send({ type: "openCitation", citation }),
      copy: (candidateId, what) => editor.send({ type: "copy", what, candidateId }),
    }),
    [editor, dispatch],
  );
  return (
    <>
      <div class="before">
        {card}
        <Banners
          pack={pack}
          notice={model.view?.notice ?? null}
          onIndexVersion={model.job?.fraction == null ? indexVersion : null}
        />
        <ErrorTrace pack={pack} open={actions.openCitation} />
      </div>
      {pack.candidates.length === 0 && model.view !== null && <Nothing question={model.view.question} />}
      <ol class="results" aria-label={t("Results")} aria-description={keysHelp()}>
        {candidates.map((candidate, index) => (
          <Card
            key={index}
            candidate={candidate}
            outline={outlines.get(candidate) ?? null}
            places={places.get(candidate) ?? null}
            terms={terms}
            plan={planOf(pack, candidate)}
            columns={narrow ? COLUMNS.narrow : COLUMNS.wide}
            index={index}
            active={model.active === candidate.candidate_id}
            expanded={model.expanded.has(candidate.candidate_id)}
            explained={model.explained.has(candidate.candidate_id)}
            actions={actions}
          />
        ))}
      </ol>
      <Facts pack={pack} />
    </>
  );
}

/** Whether the first of a component has been painted. */
function usePainted(): boolean {
  const [painted, setPainted] = useState(false);
  useEffect(() => setPainted(true), []);
  return painted;
}

/** What the extension had to say, for a while. */
function Said({ model, dispatch }: { model: Model; dispatch(event: Event): void }) {
  const { said } = model;
  useEffect(() => {
    if (said === null) {
      return;
    }
    const timer = setTimeout(() => dispatch({ type: "silence" }), SAY_FOR_MS);
    return () => clearTimeout(timer);
  }, [said, dispatch]);
  return (
    <div class="said" role="status">
      {said !== null && (
        <p key={said.number}>
          <Sentence text={said.text} longest={500} />
        </p>
      )}
    </div>
  );
}

/** Keeps the state with the editor, not at every key that is typed. */
function useSaving(editor: EditorPort, model: Model): void {
  useEffect(() => {
    const timer = setTimeout(() => {
      const state = saved(model);
      if (state !== null) {
        editor.save(state);
      }
    }, SAVE_AFTER_MS);
    return () => clearTimeout(timer);
  }, [editor, model.view, model.draft, model.active]);
}

/** Gives the focus to the results, where the page has it and nothing in the page does. */
function useFocus({ view, active }: Model): void {
  const candidates = view?.pack?.candidates ?? [];
  const at = candidates.findIndex(({ candidate_id }) => candidate_id === active);
  const index = useRef(at);
  index.current = at;
  // Before the next key can arrive.
  useLayoutEffect(() => {
    const take = () => {
      if (document.hasFocus() && document.activeElement === document.body) {
        // A click gives the page the focus, too: it must find everything where it was.
        document.getElementById(cardElementId(index.current))?.focus({ preventScroll: true });
      }
    };
    take();
    window.addEventListener("focus", take);
    return () => window.removeEventListener("focus", take);
  }, [view?.current]);
}

function useKeys(editor: EditorPort, model: Model, dispatch: (event: Event) => void): void {
  const latest = useRef(model);
  latest.current = model;
  useEffect(() => {
    const listener = (event: KeyboardEvent) => {
      const command = event.defaultPrevented ? null : commandOf(keyOf(event));
      if (command !== null && obey(command, latest.current, editor, dispatch)) {
        event.preventDefault();
      }
    };
    window.addEventListener("keydown", listener);
    return () => window.removeEventListener("keydown", listener);
  }, [editor, dispatch]);
}

/** Does what a key means; false if there is nothing to do it on. */
function obey(
  command: Command,
  { view, active }: Model,
  editor: EditorPort,
  dispatch: (event: Event) => void,
): boolean {
  const candidates = view?.pack?.candidates ?? [];
  const at = candidates.findIndex((candidate) => candidate.candidate_id === active);
  const id = candidates[at]?.candidate_id;
  switch (command) {
    case "query": {
      const field = document.getElementById(QUERY_ID);
      field?.focus();
      if (field instanceof HTMLTextAreaElement) {
        field.select();
      }
      return true;
    }
    case "leave":
      return view?.phase === "loading" ? sent(editor, { type: "cancel" }) : goTo(Math.max(at, 0));
    case "open":
      return id !== undefined && sent(editor, { type: "open", candidateId: id, where: "default" });
    case "copy":
      return id !== undefined && sent(editor, { type: "copy", what: "citation", candidateId: id });
    case "expand":
    case "explain":
      if (id !== undefined) {
        dispatch({ type: command, id });
      }
      return id !== undefined;
    default:
      return goTo(step(command, at, candidates.length));
  }
}

function sent(editor: EditorPort, message: FromPage): boolean {
  editor.send(message);
  return true;
}

/** The index to go to. The first step from outside the list goes to the active card itself. */
function step(command: "next" | "previous" | "first" | "last", at: number, count: number): number {
  if (command === "first" || command === "last") {
    return command === "first" ? 0 : count - 1;
  }
  if (document.activeElement?.closest(".card") == null) {
    return Math.max(at, 0);
  }
  return Math.min(count - 1, Math.max(0, at + (command === "next" ? 1 : -1)));
}

/** Moves the focus; the card that gets it becomes the active one. */
function goTo(index: number): boolean {
  const card = document.getElementById(cardElementId(index));
  card?.focus({ preventScroll: true });
  card?.scrollIntoView({ block: "nearest" });
  return card !== null;
}

function announcement({ view }: Model): string {
  if (view?.phase === "loading") {
    return t("Searching\u2026");
  }
  if (view?.pack == null) {
    return "";
  }
  const count = `${countOf(view.pack.candidates.length)}.`;
  // Where another part of the editor has the focus, the key would go there.
  return document.hasFocus() ? `${count} ${t("Press j for the next result.")}` : count;
}

/** The numbers of the search that found a candidate: in a pack of two indexes, each has its own. */
function planOf({ retrieval_plan: plan, beside }: EvidenceResult, { index }: Candidate): RetrievalPlan | null {
  return beside != null && index === beside.name ? beside.retrieval_plan : plan;
}
