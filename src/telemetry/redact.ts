/** Takes secrets out of what is about to be logged. */

const redacted = '[redacted]'

/** Keys whose values are credentials wherever they stand, compared without case, dashes and underscores. */
const secretKeys = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'token',
  'bearertoken',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'password',
  'passwd',
  'privatekey',
  'clientkeydata',
  'clientsecret',
])

/** Deep enough for an object inside an error inside a log line; beyond it nothing is printed at all. */
const maxDepth = 12
/** Some dozens of Pods. What is inside an object is counted as often as the object is met: a line is to be no longer than that. */
const maxValues = 10_000
const tooLarge = '[too large]'

/** What is known of one call: where it is, and how much it may still look at. */
interface Walk {
  /** The objects that the current one is inside of. */
  readonly path: Set<object>
  left: number
}

/**
 * The same value without secrets: credentials by their key, the key of a TLS pair, the data of Secrets.
 * Copy on write: the same reference when there was nothing to take out. Cycles are cut, and what is too deep or too large is cut off.
 */
export function redact<T>(value: T): T {
  return redactValue(value, { path: new Set(), left: maxValues }) as T
}

function redactValue(value: unknown, walk: Walk): unknown {
  walk.left -= 1
  if (typeof value === 'string') return value.includes('PRIVATE KEY-----') ? redacted : value
  if (typeof value !== 'object' || value === null) return value
  const { path } = walk
  if (path.has(value)) return '[circular]'
  if (path.size > maxDepth) return '[too deep]'
  const prototype: unknown = Object.getPrototypeOf(value)
  // Errors, dates and the like have serializers of their own.
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null) return value
  path.add(value)
  try {
    return Array.isArray(value) ? redactArray(value, walk) : redactObject(value as Record<string, unknown>, walk)
  } finally {
    path.delete(value)
  }
}

function redactArray(items: readonly unknown[], walk: Walk): readonly unknown[] {
  let changed = false
  const copy: unknown[] = []
  for (const item of items) {
    if (walk.left <= 0) return [...copy, tooLarge]
    const clean = redactValue(item, walk)
    changed ||= clean !== item
    copy.push(clean)
  }
  return changed ? copy : items
}

function redactObject(object: Record<string, unknown>, walk: Walk): Record<string, unknown> {
  const isSecret = object['kind'] === 'Secret'
  let changed = false
  const entries: [string, unknown][] = []
  for (const key of Object.keys(object)) {
    if (walk.left <= 0) return Object.fromEntries([...entries, ['…', tooLarge]])
    const value = object[key]
    const clean = isSecretField(key, object, isSecret) && value !== undefined && value !== null ? redacted : redactValue(value, walk)
    changed ||= clean !== value
    entries.push([key, clean])
  }
  // fromEntries defines keys and so keeps `__proto__` plain data.
  return changed ? Object.fromEntries(entries) : object
}

function isSecretField(key: string, object: Record<string, unknown>, isSecret: boolean): boolean {
  if (isSecret && (key === 'data' || key === 'stringData')) return true
  // The key of a pair is a secret next to its certificate; elsewhere `key` is an ordinary word.
  if (key === 'key') return 'cert' in object
  return key === 'tls.key' || secretKeys.has(key.toLowerCase().replaceAll(/[-_]/g, ''))
}
