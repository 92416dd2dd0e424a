/**
 * JSON patch (RFC 6902). Like kube-apiserver's library (github.com/evanphx/json-patch v4), these functions accept some invalid patches. The
 * error messages are those of the library.
 */
import type { JsonObject, JsonValue } from '../../api/json.ts'
import { getOwn, isObject, jsonEqual, setOwn, stringifyJson } from '../../api/json.ts'
import { isTooDeep } from '../apimachinery/object-depth.ts'
import { PatchError } from './patch-error.ts'

/** Maximum number of operations, as in kube-apiserver (k8s.io/apiserver/pkg/endpoints/handlers: patch.go). */
const maxOperations = 10_000

/**
 * Maximum total size of the values that one patch duplicates with `copy` operations, in bytes of JSON (k8s.io/apiserver/pkg/server: Config,
 * JSONPatchMaxCopyBytes).
 */
const maxCopiedBytes = 3 * 1024 * 1024

type Holder = JsonObject | JsonValue[]

/** Applies the operations in order and returns a new document. Throws `PatchError`. */
export function jsonPatch(document: JsonValue, patch: JsonValue): JsonValue {
  if (!Array.isArray(patch)) throw malformed('a JSON patch must be a list of operations')
  if (patch.length > maxOperations)
    throw malformed(`The allowed maximum operations in a JSON patch is ${maxOperations}, got ${patch.length}`)
  const copies = new Copies()
  let copiedBytes = 0
  const count = (copied: JsonValue): void => {
    copiedBytes += Buffer.byteLength(stringifyJson(copied))
    if (copiedBytes <= maxCopiedBytes) return
    const size = `the accumulated size increase of copy is ${copiedBytes}, exceeding the limit ${maxCopiedBytes}`
    throw failed(`Unable to complete the copy, ${size}`)
  }
  const patched = patch.reduce<JsonValue>((current, operation) => applyOperation(current, operation, copies, count), document)
  if (isTooDeep(patched)) throw failed('exceeded max depth')
  return patched
}

/**
 * The copies of objects and lists that this patch has made. If an object or list is already a copy, an operation changes the copy in place.
 * If not, the operation makes a copy first. An object or list that contains a copy is itself a copy.
 */
class Copies {
  readonly #copies = new Set<JsonValue>()

  /** Returns `holder` if `holder` is already a copy. If `holder` is not a copy, returns a new copy of `holder`. */
  of(holder: Holder): Holder {
    if (this.#copies.has(holder)) return holder
    const copy = Array.isArray(holder) ? [...holder] : { ...holder }
    this.#copies.add(copy)
    return copy
  }

  /**
   * Removes `value`, and all objects and lists in `value`, from the set of copies. If a later operation changes one of these objects or
   * lists, the operation makes a new copy first.
   *
   * Call this method for the value that a `copy` operation adds. After this operation, the document contains the same value at two paths. A
   * change in place at one path would also change the value at the other path.
   */
  share(value: JsonValue | undefined): void {
    if (value === undefined || !this.#copies.delete(value)) return
    for (const child of Object.values(value as Holder)) this.share(child)
  }
}

/**
 * Applies one operation. Calls `count` with the value of a `copy` operation; `count` throws when the total size of the copied values is too
 * large.
 */
function applyOperation(document: JsonValue, operation: JsonValue, copies: Copies, count: (copied: JsonValue) => void): JsonValue {
  if (!isObject(operation)) throw malformed('an operation of a JSON patch must be an object')
  const { op } = operation
  const value = operation.value ?? null
  const change = (of: JsonValue, path: string, problem: PatchError, edit: (holder: Holder, key: string) => void): JsonValue =>
    changed(of, path, copies, problem, edit)
  const missing = (text: string): PatchError => failed(`${String(op)} operation does not apply: ${text}: missing value`)
  switch (op) {
    case 'add': {
      const path = pointer(operation, 'path')
      return change(document, path, missing(`doc is missing path: "${path}"`), (holder, key) =>
        add(holder, key, value, `error in add for path: '${path}'`),
      )
    }
    case 'remove': {
      const path = pointer(operation, 'path')
      return change(document, path, missing(`doc is missing path: "${path}"`), (holder, key) =>
        remove(holder, key, `error in remove for path: '${path}'`),
      )
    }
    case 'replace': {
      const path = pointer(operation, 'path')
      if (path === '') {
        if (isObject(value) || Array.isArray(value)) return value
        throw failed('replace operation value must be object or array: %!w(<nil>)')
      }
      return change(document, path, missing(`doc is missing path: ${path}`), (holder, key) => {
        if (Array.isArray(holder) && typeof indexIn(holder.length, key) !== 'number') throw missing(`doc is missing key: ${path}`)
        put(holder, key, value)
      })
    }
    case 'move': {
      const from = pointer(operation, 'from')
      let moved: JsonValue = null
      const without = change(document, from, missing(`doc is missing from path: ${from}`), (holder, key) => {
        moved = get(holder, key, `error in move for path: '${key}'`) ?? null
        remove(holder, key, `error in move for path: '${key}'`)
      })
      const path = pointer(operation, 'path')
      return change(without, path, missing(`doc is missing destination path: ${path}`), (holder, key) =>
        add(holder, key, moved, `error in move for path: '${path}'`),
      )
    }
    case 'copy': {
      const from = pointer(operation, 'from')
      const source = find(document, from)
      if (source === undefined) throw missing(`doc is missing from path: ${from}`)
      const copied = get(source.holder, source.key, `error in copy for from: '${from}'`) ?? null
      count(copied)
      copies.share(copied)
      const path = pointer(operation, 'path')
      return change(document, path, missing(`doc is missing destination path: ${path}`), (holder, key) =>
        add(holder, key, copied, 'error while adding value during copy'),
      )
    }
    case 'test': {
      const path = pointer(operation, 'path')
      const target = path === '' ? undefined : find(document, path)
      if (path !== '' && target === undefined) throw missing(`is missing path: ${path}`)
      const found = target === undefined ? document : (get(target.holder, target.key, `error in test for path: '${path}'`) ?? null)
      if (!jsonEqual(found, value)) throw failed(`testing value ${path} failed: test failed`)
      return document
    }
    default:
      throw failed(`Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`)
  }
}

interface Place {
  readonly holder: Holder
  readonly key: string
}

/**
 * Returns the object or list that contains the target of `path`, and the key of the target in this object or list. Returns undefined if no
 * such object or list exists.
 */
function find(document: JsonValue, path: string): Place | undefined {
  const tokens = tokensOf(path)
  const key = tokens.pop()
  if (key === undefined) return undefined
  let holder: JsonValue | undefined = document
  for (const token of tokens) holder = child(holder, token)
  return isHolder(holder) ? { holder, key } : undefined
}

/**
 * Returns the changed document. `edit` changes the object or list that contains the target of `path`. Before the change, the objects and
 * lists on the path are copied, except those that are already copies.
 */
function changed(
  document: JsonValue,
  path: string,
  copies: Copies,
  missing: PatchError,
  edit: (holder: Holder, key: string) => void,
): JsonValue {
  const tokens = tokensOf(path)
  const key = tokens.pop()
  if (key === undefined || !isHolder(document)) throw missing
  const root = copies.of(document)
  let holder = root
  for (const token of tokens) {
    const next = child(holder, token)
    if (!isHolder(next)) throw missing
    const copy = copies.of(next)
    if (copy !== next) put(holder, token, copy)
    holder = copy
  }
  edit(holder, key)
  return root
}

function isHolder(value: JsonValue | undefined): value is Holder {
  return Array.isArray(value) || isObject(value)
}

function child(value: JsonValue | undefined, token: string): JsonValue | undefined {
  if (Array.isArray(value)) {
    const index = indexIn(value.length, token)
    return typeof index === 'number' ? value[index] : undefined
  }
  return isObject(value) ? getOwn(value, token) : undefined
}

function get(holder: Holder, key: string, context: string): JsonValue | undefined {
  return Array.isArray(holder) ? holder[existing(holder, key, context)] : getOwn(holder, key)
}

function add(holder: Holder, key: string, value: JsonValue, context: string): void {
  if (!Array.isArray(holder)) return put(holder, key, value)
  const index = key === '-' ? holder.length : indexIn(holder.length + 1, key)
  if (typeof index === 'number') holder.splice(index, 0, value)
  else throw failed(`${context}: ${/^[-+]?\d+$/.test(key) ? '' : `value was not a proper array index: '${key}': `}${index}`)
}

function remove(holder: Holder, key: string, context: string): void {
  if (Array.isArray(holder)) holder.splice(existing(holder, key, context), 1)
  else if (getOwn(holder, key) === undefined) throw failed(`${context}: Unable to remove nonexistent key: ${key}: missing value`)
  else delete holder[key]
}

/** Sets a field of an object, or an existing item of a list. */
function put(holder: Holder, key: string, value: JsonValue): void {
  if (Array.isArray(holder)) holder[indexIn(holder.length, key) as number] = value
  else setOwn(holder, key, value)
}

function existing(holder: readonly JsonValue[], key: string, context: string): number {
  const index = indexIn(holder.length, key)
  if (typeof index === 'number') return index
  throw failed(`${context}: ${index}`)
}

/**
 * Returns the index that `token` denotes in a list with `length` items; a negative index counts from the end. Returns Go's error message
 * for an invalid index.
 */
function indexIn(length: number, token: string): number | string {
  if (!/^[-+]?\d+$/.test(token)) return `strconv.Atoi: parsing ${JSON.stringify(token)}: invalid syntax`
  const index = Number(token)
  if (index >= length || index < -length) return `Unable to access invalid index: ${index}: invalid index referenced`
  return index < 0 ? index + length : index
}

/** Returns the tokens of a JSON pointer. Like the Go library, ignores any characters before the first slash. */
function tokensOf(path: string): string[] {
  return path
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function pointer(operation: JsonObject, field: 'path' | 'from'): string {
  const text = operation[field]
  if (typeof text === 'string') return text
  const { op } = operation
  // For some operations, the message of the Go library omits the part that says that the field is missing.
  const isSilent = op === 'add' || op === 'remove' || (op === 'copy' && field === 'path')
  const what = isSilent ? '' : field === 'path' ? 'operation missing path field: ' : 'operation, missing from field: '
  throw failed(`${String(op)} operation failed to decode ${field}: ${what}missing value`)
}

function malformed(message: string): PatchError {
  return new PatchError('malformed', message)
}

function failed(message: string): PatchError {
  return new PatchError('failed', message)
}
