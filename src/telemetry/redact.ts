/** Takes secrets out of what is about to be logged. */

export const redacted = '[redacted]'

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

/**
 * The same value without secrets: credentials by their key, the key of a TLS pair, the data of Secrets.
 * Copy on write: the same reference when there was nothing to take out.
 */
export function redact<T>(value: T): T {
  return redactValue(value, 0) as T
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.includes('PRIVATE KEY-----') ? redacted : value
  if (typeof value !== 'object' || value === null) return value
  if (depth > maxDepth) return '[too deep]'
  if (Array.isArray(value)) return redactArray(value, depth)
  const prototype: unknown = Object.getPrototypeOf(value)
  // Errors, dates and the like have serializers of their own.
  if (prototype !== Object.prototype && prototype !== null) return value
  return redactObject(value as Record<string, unknown>, depth)
}

function redactArray(items: readonly unknown[], depth: number): readonly unknown[] {
  const copy = items.map((item) => redactValue(item, depth + 1))
  return copy.every((item, index) => item === items[index]) ? items : copy
}

function redactObject(object: Record<string, unknown>, depth: number): Record<string, unknown> {
  const isSecret = object['kind'] === 'Secret'
  let changed = false
  const entries = Object.entries(object).map(([key, value]): [string, unknown] => {
    const clean = isSecretField(key, object, isSecret) && value !== undefined && value !== null ? redacted : redactValue(value, depth + 1)
    changed ||= clean !== value
    return [key, clean]
  })
  // fromEntries defines keys and so keeps `__proto__` plain data.
  return changed ? Object.fromEntries(entries) : object
}

function isSecretField(key: string, object: Record<string, unknown>, isSecret: boolean): boolean {
  if (isSecret && (key === 'data' || key === 'stringData')) return true
  // The key of a pair is a secret next to its certificate; elsewhere `key` is an ordinary word.
  if (key === 'key') return 'cert' in object
  return key === 'tls.key' || secretKeys.has(key.toLowerCase().replaceAll(/[-_]/g, ''))
}
