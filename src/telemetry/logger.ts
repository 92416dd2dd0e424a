/** The logger: pino with the fields that Kubernetes' operators use, and redaction of secrets. */
import { format } from 'node:util'
import { pino } from 'pino'
import type { Bindings, ChildLoggerOptions, DestinationStream, LogFn, Logger } from 'pino'
import { PinoPretty } from 'pino-pretty'
import { redact } from './redact.ts'

/** A structured logger; `child({ controller, namespace, name, reconcileID })` returns one with more fields. */
export type { Logger }

export interface LoggerOptions {
  /** `trace`, `debug`, `info` (default), `warn`, `error`, `fatal` or `silent`. */
  readonly level?: string
  /** Logs text for people instead of JSON. */
  readonly pretty?: boolean
  /** Logs the text for people with colours. Default false. */
  readonly colorize?: boolean
  /** While it returns true, only warnings and errors are logged, because progress is displayed in another way. */
  readonly muted?: () => boolean
  /** Default: standard error, which is separate from a command's own output. */
  readonly destination?: DestinationStream
}

/**
 * Creates a logger. Credentials, private keys and the data of Secrets never reach its output: `redact` is applied to fields, errors,
 * messages and their arguments, and to the fields and prefixes of its children.
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', pretty = false, colorize = false, muted } = options
  const destination = options.destination ?? pino.destination({ fd: 2, sync: true })
  const logger = pino(
    {
      level,
      // Log lines contain no process id and host name: in a cluster, log collectors add the name of the Pod.
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Errors were converted to plain fields before.
      serializers: { err: (fields: unknown) => fields },
      hooks: {
        logMethod(given, method, number) {
          if (muted === undefined || number >= pino.levels.values.warn! || !muted()) method.apply(this, redactedArguments(given))
        },
      },
    },
    pretty ? prettyStream(destination, colorize) : destination,
  )
  return withRedactedBindings(logger)
}

/**
 * pino's arguments: fields, a message, and values for its placeholders. Message and values are formatted before the redaction, because a
 * secret may be recognized only when both are together.
 */
type LogArguments = Parameters<LogFn>

function redactedArguments(given: readonly unknown[]): LogArguments {
  const first = given[0]
  if (typeof first !== 'object' || first === null) return [redactedMessage(given, 0)] as LogArguments
  const fields = redact<unknown>(first instanceof Error ? { err: first } : first)
  // `fields` may be unreadable, or redacted to a JSON string.
  const object = typeof fields === 'object' && fields !== null ? fields : { value: fields }
  return (given.length === 1 ? [object] : [object, redactedMessage(given, 1)]) as LogArguments
}

function redactedMessage(given: readonly unknown[], index: number): unknown {
  const message = given[index]
  if (given.length === index + 1 || typeof message !== 'string') return redact(message)
  const placeholders = message.match(/%[sdifjoO%]/g)?.filter((text) => text !== '%%') ?? []
  const values = given.slice(index + 1, index + 1 + placeholders.length).map((value) => {
    const clean = redact(value)
    return typeof clean === 'object' ? JSON.stringify(clean) : clean
  })
  return redact(
    format(
      message.replaceAll(/%[joO%]/g, (text) => (text === '%%' ? text : '%s')),
      ...values,
    ),
  )
}

/** Children do not inherit pino's formatter for bindings, but they do inherit an overridden method. */
function withRedactedBindings(logger: Logger): Logger {
  const child = logger.child as unknown as (bindings: Bindings, options?: ChildLoggerOptions) => Logger
  const setBindings = logger.setBindings as unknown as (bindings: Bindings) => void
  return Object.assign(logger, {
    child(this: Logger, bindings: Bindings, options?: ChildLoggerOptions): Logger {
      const prefix = options?.msgPrefix
      return child.call(this, redact(bindings), prefix === undefined ? options : { ...options, msgPrefix: redact(prefix) })
    },
    setBindings(this: Logger, bindings: Bindings): void {
      setBindings.call(this, redact(bindings))
    },
  })
}

/** Returns a stream that writes line by line and synchronously: the last lines of a process must not be lost. */
function prettyStream(destination: DestinationStream, colorize: boolean): DestinationStream {
  const format = PinoPretty.prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l', singleLine: true })
  return { write: (line) => destination.write(format(line)) }
}

/** A logger without output, e.g. for tests. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' })
}
