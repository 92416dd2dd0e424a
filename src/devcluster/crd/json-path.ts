/** Evaluates the simple JSON paths of a CRD, in its printer columns, scale subresources and selectable fields. */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, jsonEqual } from '../../api/json.ts'

type Step =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'filter'; readonly path: readonly Step[]; readonly operator: Operator | undefined; readonly value: JsonValue }

type Operator = '==' | '!=' | '<' | '<=' | '>' | '>='

/** Returns the values at the path in an object; an empty list when a field is missing. */
export type JsonPath = (object: JsonObject) => readonly JsonValue[]

/**
 * Compiles a JSON path. A path consists of these parts:
 *
 * - fields: `.spec.size`
 * - indices: `.spec.containers[0].image`
 * - wildcards: `.spec.hosts[*]`
 * - escaped dots: `.metadata.annotations.example\.com/a`
 * - filters: `.status.conditions[?(@.type=="Ready")].status`
 *
 * A dot that is not escaped separates fields, even in quotes: `['a.b']` means `.a.b`.
 *
 * @throws {SyntaxError} for any other syntax.
 */
export function compileJsonPath(text: string): JsonPath {
  const steps = parsePath(text)
  return (object) => walk([object], steps)
}

/** Returns the field names of a path that consists only of fields, such as `.spec.replicas`; undefined for any other path. */
export function plainFields(text: string): readonly string[] | undefined {
  let steps: readonly Step[]
  try {
    steps = parsePath(text)
  } catch {
    return undefined
  }
  const names = steps.flatMap((step) => (step.kind === 'field' ? [step.name] : []))
  return names.length === steps.length ? names : undefined
}

const fieldStep = /\.((?:\\.|[^\s.[\]\\'"])+)/y
/**
 * Matches a quoted field name in brackets. The name must not contain a comma, because client-go parses text with a comma in brackets as a
 * union of several fields (k8s.io/client-go/util/jsonpath: parseArray).
 */
const quotedStep = /\['([^',]*)'\]/y
const indexStep = /\[(-?\d+)\]/y
const allStep = /\[\*\]|\.\*/y
const filterStep = /\[\?\(\s*@((?:\\.|[^\s=!<>'"()])*)\s*(?:(==|!=|<=|>=|<|>)\s*('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|[^\s()'"]+)\s*)?\)\]/y

function parsePath(text: string): readonly Step[] {
  const steps: Step[] = []
  let at = 0
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found !== null) at = pattern.lastIndex
    return found
  }
  while (at < text.length) {
    let found: RegExpExecArray | null
    if (match(allStep)) steps.push({ kind: 'all' })
    else if ((found = match(fieldStep))) steps.push({ kind: 'field', name: unescape(found[1]!) })
    else if ((found = match(quotedStep))) steps.push(...parsePath(`.${found[1]!}`))
    else if ((found = match(indexStep))) steps.push({ kind: 'index', index: Number(found[1]) })
    else if ((found = match(filterStep))) steps.push(filter(found))
    else throw new SyntaxError(`unrecognized character in json path at ${JSON.stringify(text.slice(at))}`)
  }
  if (steps.length === 0) throw new SyntaxError('empty json path')
  return steps
}

function filter(found: RegExpExecArray): Step {
  const [, path = '', operator, literal = ''] = found
  return { kind: 'filter', path: path === '' ? [] : parsePath(path), operator: operator as Operator | undefined, value: literalOf(literal) }
}

function literalOf(text: string): JsonValue {
  if (/^['"]/.test(text)) return unescape(text.slice(1, -1))
  if (text === 'true' || text === 'false') return text === 'true'
  const number = Number(text)
  return text !== '' && Number.isFinite(number) ? number : text
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, '$1')
}

function walk(values: readonly JsonValue[], steps: readonly Step[]): readonly JsonValue[] {
  let current = values
  for (const step of steps) {
    current = current.flatMap((value) => applyStep(value, step))
    if (current.length === 0) break
  }
  return current
}

function applyStep(value: JsonValue, step: Step): readonly JsonValue[] {
  switch (step.kind) {
    case 'field': {
      const child = isObject(value) ? getOwn(value, step.name) : undefined
      return child === undefined ? [] : [child]
    }
    case 'index': {
      const child = Array.isArray(value) ? value.at(step.index) : undefined
      return child === undefined ? [] : [child]
    }
    case 'all':
      return childrenOf(value)
    case 'filter':
      return childrenOf(value).filter((child) => passes(child, step))
  }
}

function childrenOf(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  return isObject(value) ? Object.values(value).filter((child) => child !== undefined) : []
}

function passes(child: JsonValue, { path, operator, value }: Extract<Step, { kind: 'filter' }>): boolean {
  const found = walk([child], path)[0]
  if (operator === undefined) return found !== undefined
  if (found === undefined) return false
  if (operator === '==') return jsonEqual(found, value)
  if (operator === '!=') return !jsonEqual(found, value)
  if (typeof found !== typeof value || (typeof found !== 'number' && typeof found !== 'string')) return false
  const order = found < (value as typeof found) ? -1 : found > (value as typeof found) ? 1 : 0
  return operator === '<' ? order < 0 : operator === '<=' ? order <= 0 : operator === '>' ? order > 0 : order >= 0
}
