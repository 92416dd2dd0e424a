/** Converts an error to the fields of a log line, as pino does. The fields `message` and `stack` include the causes of the error. */

/**
 * Returns the fields of an error: type, message, stack, the errors of an AggregateError, and the properties of the error object. At most
 * `maxCauses` errors of the chain of causes are included. A property whose getter throws is undefined.
 */
export function errorFields(error: object, maxCauses: number): Record<string, unknown> {
  const chain = causesOf(error, maxCauses)
  const message = read(error, 'message')
  const last = read(chain.at(-1)!, 'cause')
  const fields: Record<string, unknown> = {
    type: typeOf(error),
    message: typeof message === 'string' ? textsOf(chain, 'message').join(': ') : message,
    stack: textsOf(chain, 'stack').join('\ncaused by: '),
  }
  const errors = read(error, 'errors')
  if (Array.isArray(errors)) fields['aggregateErrors'] = errors
  for (const key of Object.keys(error)) {
    if (!(key in fields) && key !== 'cause' && key !== 'errors') fields[key] = read(error, key)
  }
  if (last !== undefined && !(last instanceof Error)) fields['cause'] = last
  return fields
}

/** Returns the error, its cause, the cause of this cause, and so on: at most `max` errors. */
function causesOf(error: object, max: number): object[] {
  const chain = [error]
  while (chain.length < max) {
    const cause = read(chain.at(-1)!, 'cause')
    if (!(cause instanceof Error) || chain.includes(cause)) break
    chain.push(cause)
  }
  return chain
}

function textsOf(chain: readonly object[], key: string): string[] {
  return chain.map((error) => read(error, key)).filter((text) => typeof text === 'string' && text !== '') as string[]
}

function typeOf(error: object): string {
  const type = read(error, 'constructor')
  const name = typeof type === 'function' ? type.name : read(error, 'name')
  return typeof name === 'string' ? name : 'Error'
}

function read(object: object, key: string): unknown {
  try {
    return (object as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}
