/** Reads Kubernetes objects from files, folders and standard input, as JSON or as YAML with any number of documents. */
import { readFile, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { LineCounter, parseAllDocuments } from 'yaml'
import { messageOf } from '../api/errors.ts'
import { quote } from '../api/field-error.ts'
import { isObject, type JsonObject } from '../api/json.ts'
import { readNumber } from '../api/json-reader.ts'
import { duplicateKeyOf } from '../api/yaml-duplicate-keys.ts'
import { goNumberTags } from '../api/yaml-numbers.ts'

export interface ManifestInput {
  /**
   * The source of the object, e.g. `a.yaml, document 2, item 1`. If the file has several documents, the text contains the number of the
   * document. If the document is a list, the text contains the number of the item.
   */
  readonly source: string
  readonly object: JsonObject
}

/** A file that cannot be read, or a document or list item that is not a Kubernetes object. */
export class UnreadableInput {
  readonly source: string
  readonly problem: string

  constructor(source: string, problem: string) {
    this.source = source
    this.problem = problem
  }
}

const notAnObject = 'not a Kubernetes object: apiVersion and kind are needed'

/**
 * Yields every object in the given files and folders, in order. If a file cannot be read, or a document is not a Kubernetes object, the
 * function yields an `UnreadableInput` and continues.
 */
export async function* readManifests(places: readonly string[]): AsyncGenerator<ManifestInput | UnreadableInput> {
  for (const place of places) {
    if (place === '-') {
      yield* objectsIn('-', await text(process.stdin))
      continue
    }
    for (const file of await filesAt(place).catch((error: unknown) => [new UnreadableInput(place, problemOf(error))])) {
      if (typeof file !== 'string') yield file
      else
        yield* await readFile(file, 'utf8').then(
          (content) => [...objectsIn(file, content)],
          (error: unknown) => [new UnreadableInput(file, problemOf(error))],
        )
    }
  }
}

async function filesAt(place: string): Promise<string[]> {
  if (!(await stat(place)).isDirectory()) return [place]
  const entries = await readdir(place, { recursive: true })
  return entries
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort()
    .map((name) => join(place, name))
}

function* objectsIn(file: string, content: string): Generator<ManifestInput | UnreadableInput> {
  // With `intAsBigInt`, parsing is slower. `intAsBigInt` is therefore set only if the content may contain an integer beyond 2^53. Such an
  // integer has at least 16 decimal or octal digits, or 14 hexadecimal digits.
  const exact = /\d{16}|0x[\da-f]{14}/i.test(content)
  const lines = new LineCounter()
  const options = { merge: true, intAsBigInt: exact, customTags: goNumberTags, uniqueKeys: false, lineCounter: lines }
  const documents = parseAllDocuments(content, options)
  if (!Array.isArray(documents)) return
  for (const [index, document] of documents.entries()) {
    const source = documents.length === 1 ? file : `${file}, document ${index + 1}`
    const [problem] = document.errors
    if (problem !== undefined) {
      yield new UnreadableInput(source, problem.message.split('\n')[0]!)
      continue
    }
    const duplicate = duplicateKeyOf(document)
    if (duplicate !== undefined) {
      const { line, col } = lines.linePos(duplicate.offset)
      yield new UnreadableInput(source, `Map keys must be unique: ${quote(duplicate.key)} is a duplicate at line ${line}, column ${col}`)
      continue
    }
    let value: unknown
    try {
      value = document.toJS({ maxAliasCount: 100, ...(exact ? { reviver: narrow } : {}) })
    } catch (error) {
      yield new UnreadableInput(source, messageOf(error))
      continue
    }
    if (value === null || value === undefined) continue
    if (!isObject(value) || typeof value.apiVersion !== 'string' || typeof value.kind !== 'string') {
      yield new UnreadableInput(source, notAnObject)
    } else if (Array.isArray(value.items)) {
      for (const [index, item] of value.items.entries()) {
        const place = `${source}, item ${index + 1}`
        yield isObject(item) ? { source: place, object: item } : new UnreadableInput(place, notAnObject)
      }
    } else {
      yield { source, object: value }
    }
  }
}

/**
 * Converts a bigint as `readNumber` does: a safe integer to a number, and an integer beyond int64 to a float. Any other bigint remains a
 * bigint.
 */
function narrow(_key: unknown, value: unknown): unknown {
  return typeof value === 'bigint' ? readNumber(String(value)) : value
}

function problemOf(error: unknown): string {
  switch ((error as NodeJS.ErrnoException).code) {
    case 'ENOENT':
      return 'there is no such file or folder'
    case 'EACCES':
      return 'it may not be read'
    default:
      return messageOf(error)
  }
}
