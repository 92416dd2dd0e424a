/**
 * `TerminalSizes`: reads the terminal sizes that a client sends. The client sends one JSON object for each size, such as
 * `{"Width":80,"Height":24}`.
 */
import { isObject } from '../../../api/json.ts'

export interface TerminalSize {
  readonly columns: number
  readonly rows: number
}

/** Maximum number of characters that are buffered until an object is complete. An object has about 30 characters. */
const maxPending = 1024
/** Maximum number of columns or rows. In Go, both numbers have the type uint16 (k8s.io/client-go/tools/remotecommand: TerminalSize). */
const maxCells = 65_535

export class TerminalSizes {
  #pending = ''

  /** Adds received bytes. Returns the terminal sizes in the JSON objects that these bytes complete. Invalid objects are skipped. */
  add(bytes: Buffer): TerminalSize[] {
    const objects = `${this.#pending}${bytes.toString('latin1')}`.split(/(?<=\})/)
    const last = objects.at(-1) ?? ''
    this.#pending = last.endsWith('}') || last.length > maxPending ? '' : last
    return objects.flatMap((text) => sizeOf(text) ?? [])
  }
}

/**
 * Returns the size in a JSON text; undefined for an invalid text. kubectl sends `Width` and `Height`. Other clients send `width` and
 * `height`. Go accepts both.
 */
function sizeOf(text: string): TerminalSize | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  const numbers = new Map(Object.entries(value).map(([name, number]) => [name.toLowerCase(), number]))
  const columns = numbers.get('width')
  const rows = numbers.get('height')
  return isCount(columns) && isCount(rows) ? { columns, rows } : undefined
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= maxCells
}
