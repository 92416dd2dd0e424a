/** Redacts secrets in the fields of log lines. */
import { types } from 'node:util'
import { errorFields } from './error-fields.ts'
import { secrecyOf } from './secret-keys.ts'
import type { Secrecy } from './secret-keys.ts'
import { redacted, redactText } from './secret-text.ts'

/**
 * Maximum number of levels of nesting. The maximum is sufficient for the spec of a Pod that is a property of a logged error. An object or
 * list at a deeper level is replaced by `[too deep]`.
 */
const maxDepth = 12
/**
 * Maximum number of values in a log line. It is sufficient for several dozen Pods. An object that occurs several times is counted each
 * time, because it is logged each time.
 */
const maxValues = 10_000
/** Maximum number of characters of a string. A longer string is truncated. Stacks and status messages are much shorter. */
const maxText = 32 * 1024
/**
 * Maximum total number of characters of all strings and keys in a log line. Log collectors truncate or reject lines that exceed a limit,
 * which is often 256 KiB.
 */
const maxCharacters = 256 * 1024
const tooLarge = '[too large]'
const unreadable = '[unreadable]'

/**
 * The place of a value, which determines whether the value is redacted. `hidden`: the value is below a key that indicates a secret.
 * `secrets`: the value is below `items` of a SecretList, whose items have no `kind`. `open`: all other places.
 */
type Place = 'open' | 'hidden' | 'secrets'

/**
 * The state of one call of `redact`. `path` contains the objects that enclose the current value. `values` and `characters` are the
 * remaining parts of `maxValues` and `maxCharacters`.
 */
interface Walk {
  readonly path: object[]
  values: number
  characters: number
}

/**
 * Returns a copy of `value` as plain JSON data, with its secrets redacted. Secrets are, for example:
 *
 * - all values below a key that indicates a secret, such as `password`
 * - the `value` next to a name that indicates a secret, as in `{ name: 'DB_PASSWORD', value }`
 * - the `key` next to a `cert`
 * - the data of Secrets
 * - the matches of `redactText` in strings
 *
 * A string that contains JSON is parsed, and its secrets are redacted too. An error is replaced by its fields, a Map by an object, a Set by
 * a list, binary data by its length, and a circular reference by `[circular]`.
 *
 * The limits are 12 levels below `value`, 10,000 values, 256 Ki characters in total, and 32 Ki characters of each string. The function
 * never throws. The value of a property is read only once, and then checked and copied, because a getter could return another value the
 * second time.
 */
export function redact<T>(value: T): T {
  return copyOf(value, newWalk(), 'open') as T
}

function newWalk(): Walk {
  return { path: [], values: maxValues, characters: maxCharacters }
}

function copyOf(value: unknown, walk: Walk, place: Place): unknown {
  walk.values -= 1
  switch (typeof value) {
    case 'string':
      return place === 'hidden' && value !== '' ? redacted : textOf(value, walk)
    case 'number':
      return place === 'hidden' ? redacted : value
    case 'bigint':
      return place === 'hidden' ? redacted : String(value)
    case 'object':
      return value === null ? null : copyOfObject(value, walk, place)
    case 'symbol':
    case 'function':
      return undefined
    default:
      return value
  }
}

function textOf(text: string, walk: Walk): string {
  const limit = Math.min(maxText, walk.characters)
  if (text.length > limit) {
    walk.characters -= limit
    return limit <= 0 ? tooLarge : `${redactText(text.slice(0, limit), true)}… (${text.length - limit} more characters)`
  }
  walk.characters -= text.length
  return (text.startsWith('{') || text.startsWith('[') ? redactJson(text, walk) : undefined) ?? redactText(text)
}

/** Parses a string as JSON, and returns the JSON with its secrets redacted. Returns undefined when the string is not JSON. */
function redactJson(text: string, walk: Walk): string | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const clean = JSON.stringify(copyOf(value, walk, 'open'))
    return clean === JSON.stringify(value) ? text : clean
  } catch {
    return undefined
  }
}

function copyOfObject(value: object, walk: Walk, place: Place): unknown {
  if (walk.path.includes(value)) return '[circular]'
  if (walk.path.length > maxDepth) return '[too deep]'
  walk.path.push(value)
  try {
    return Array.isArray(value) ? copyOfList(value, walk, place) : copyOfContent(value, walk, place)
  } catch {
    // The value has thrown an error in a proxy trap, a `toJSON` method or a getter.
    return unreadable
  } finally {
    walk.path.pop()
  }
}

function copyOfContent(value: object, walk: Walk, place: Place): unknown {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype) {
    if (value instanceof Error || types.isNativeError(value)) return copyOfRecord(errorFields(value, maxDepth), walk, place)
    if (value instanceof Map) return copyOfEntries(Map.prototype.entries.call(value), walk, place)
    if (value instanceof Set) return copyOfList(Set.prototype.values.call(value), walk, place)
    if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `[${value.byteLength} bytes]`
    if (types.isBoxedPrimitive(value)) return copyOf(value.valueOf(), walk, place)
  }
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON === 'function') return copyOf((toJSON as () => unknown).call(value), walk, place)
  return copyOfRecord(value as Record<string, unknown>, walk, place)
}

function copyOfList(items: Iterable<unknown>, walk: Walk, place: Place): unknown[] {
  const copy: unknown[] = []
  let before: unknown
  for (const item of items) {
    if (walk.values <= 0) return [...copy, tooLarge]
    // The item after a flag such as `--password` is the value of that flag.
    const isValue = typeof before === 'string' && before.startsWith('--') && isSecretName(before)
    copy.push(copyOf(item, walk, isValue ? 'hidden' : place))
    before = item
  }
  return copy
}

/** Copies a list of headers, and redacts the secrets. The form of the list is `[[name, value], …]` or `[name, value, name, value, …]`. */
function copyOfHeaders(headers: readonly unknown[], walk: Walk): unknown[] {
  return copyOfList(headers, walk, 'open').map((clean, index) => {
    const item = headers[index]
    if (Array.isArray(item)) return isSecretName(item[0]) ? [item[0], redacted] : clean
    return index % 2 === 1 && isSecretName(headers[index - 1]) ? redacted : clean
  })
}

function copyOfEntries(entries: Iterable<readonly [unknown, unknown]>, walk: Walk, place: Place): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const [key, value] of entries) {
    if (walk.values <= 0 || walk.characters <= 0) return put(copy, '…', tooLarge)
    const name = typeof key === 'object' ? '[object]' : String(key)
    put(copy, nameOf(name, walk).text, copyOf(value, walk, placeUnder(name, value, place)))
  }
  return copy
}

function copyOfRecord(record: Record<string, unknown>, walk: Walk, place: Place): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(record)) {
    if (walk.values <= 0 || walk.characters <= 0) return put(copy, '…', tooLarge)
    const { text } = nameOf(key, walk)
    put(copy, text, copyOfField(key, record, walk, place))
  }
  return copy
}

function put(copy: Record<string, unknown>, key: string, value: unknown): Record<string, unknown> {
  // An assignment to the key `__proto__` would set the prototype of the copy.
  if (key === '__proto__') Object.defineProperty(copy, key, { value, enumerable: true, configurable: true, writable: true })
  else copy[key] = value
  return copy
}

function copyOfField(key: string, record: Record<string, unknown>, walk: Walk, place: Place): unknown {
  let value: unknown
  try {
    value = record[key]
  } catch {
    return unreadable
  }
  if (typeof value === 'boolean' || value === undefined || value === null) return value
  switch (key) {
    case 'stringData':
      return redacted
    case 'data':
      if (place === 'secrets' || isSecretObject(record)) return redacted
      break
    case 'items':
      if (record['kind'] === 'SecretList') return copyOf(value, walk, 'secrets')
      break
    case 'key':
      // A `key` next to a `cert` is a private key. If there is no `cert`, `key` is an ordinary field name.
      if ('cert' in record) return redacted
      break
    case 'value':
      if (namesSecret(record)) return copyOf(value, walk, 'hidden')
      break
    case 'env':
      // The field `env` of an exec plugin in a kubeconfig contains environment variables. Any of them may be a secret.
      if (String(record['apiVersion']).startsWith('client.authentication.k8s.io/')) return copyOf(value, walk, 'hidden')
      break
    case 'message':
      // In a StatusCause, `message` contains the rejected value of the field that `field` names.
      if (isSecretName(record['field'])) return String(copyOf(value, walk, 'open')).replace(/( value: )[\s\S]*/, `$1${redacted}`)
      break
    case 'headers':
    case 'rawHeaders':
      if (Array.isArray(value)) return copyOfHeaders(value, walk)
  }
  return copyOf(value, walk, placeUnder(key, value, place))
}

/**
 * Returns true if an object with the field `data` is a Secret. An object without a kind, such as an item of a list, counts as a Secret if
 * it has `metadata` and a `type`. Among Kubernetes objects, only Secrets have these three fields.
 */
function isSecretObject({ kind, type, metadata }: Record<string, unknown>): boolean {
  return kind === 'Secret' || (kind === undefined && typeof type === 'string' && metadata !== undefined)
}

/**
 * Returns true if another field of an object indicates that the field `value` is a secret. Examples: `{ name: 'DB_PASSWORD', value }` in
 * the environment of a container, and `{ path: '/spec/password', value }` in a JSON patch.
 */
function namesSecret({ name, key, path, header }: Record<string, unknown>): boolean {
  return (
    isSecretName(name) || isSecretName(key) || isSecretName(header) || (typeof path === 'string' && isSecretName(path.split('/').at(-1)))
  )
}

/**
 * Keys that can be below a key that indicates a secret, but whose values are not secret. For example, `serviceAccountToken` indicates a
 * secret, but the value of `path` in `serviceAccountToken: { path, audience }` is not secret. Such keys occur in references to Secrets, in
 * volumes, in projections, and in complete Kubernetes objects.
 */
const references = new Set(
  'apiVersion kind metadata name namespace uid key path field optional items type audience defaultMode mode expirationSeconds'.split(' '),
)

function placeUnder(key: string, value: unknown, place: Place): Place {
  const { secrecy } = nameOf(key)
  if (secrecy !== 'open') return secrecy === 'secret unless a number' && typeof value === 'number' ? 'open' : 'hidden'
  if (place !== 'hidden' || references.has(key)) return 'open'
  return /(?:Name|Ref|From)$/.test(key) ? 'open' : 'hidden'
}

function isSecretName(name: unknown): boolean {
  return typeof name === 'string' && nameOf(name).secrecy !== 'open'
}

/** The text that is logged for a key, and the secrecy of the key's value. */
interface Name {
  readonly text: string
  readonly secrecy: Secrecy
}

/**
 * The results of `nameOf`. Most log lines contain the same few hundred keys. Keys longer than `maxNameLength` are usually data, and are not
 * cached.
 */
const names = new Map<string, Name>()
const maxNames = 2_000
const maxNameLength = 64
/**
 * Maximum length of a key. The longest keys in Kubernetes objects are those of labels and annotations: a prefix of 253 characters, a slash,
 * and a name of 63 characters.
 */
const maxKey = 317

function nameOf(key: string, walk?: Walk): Name {
  if (walk !== undefined) walk.characters -= key.length
  const known = names.get(key)
  if (known !== undefined) return known
  const short = key.length > maxKey ? `${key.slice(0, maxKey)}…` : key
  const name = { text: redactText(short), secrecy: secrecyOf(short) }
  if (key.length <= maxNameLength && names.size < maxNames) names.set(key, name)
  return name
}
