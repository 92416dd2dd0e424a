/** The logger: pino with the fields that Kubernetes' operators use, without secrets. */
import { format } from 'node:util'
import { pino } from 'pino'
import type { Bindings, ChildLoggerOptions, DestinationStream, LogFn, Logger } from 'pino'
import { PinoPretty } from 'pino-pretty'
import { redact } from './redact.ts'

/** A structured logger; `child({ controller, namespace, name, reconcileID })` for a narrower one. */
export type { Logger }

export interface LoggerOptions {
  /** `trace`, `debug`, `info` (default), `warn`, `error`, `fatal` or `silent`. */
  readonly level?: string
  /** Lines for people instead of JSON. */
  readonly pretty?: boolean
  /** Colours in lines for people. Default false. */
  readonly colorize?: boolean
  /** While it says true, only warnings and errors are logged: when something else tells what is going on. */
  readonly muted?: () => boolean
  /** Default: standard error, so that a command's own output stays apart. */
  readonly destination?: DestinationStream
}

/**
 * Makes a logger. Credentials, private keys and the data of Secrets never reach its output: fields, errors, messages and what
 * they are formatted with pass `redact`, and so do the fields and prefixes of its children.
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', pretty = false, colorize = false, muted } = options
  const destination = options.destination ?? pino.destination({ fd: 2, sync: true })
  const logger = pino(
    {
      level,
      // Neither process id nor host name: in a cluster the Pod says both.
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Errors are plain fields by then.
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

/** What pino takes: fields, a message, and the values for its placeholders. All of it is formatted here, since a secret may be made of two parts. */
type LogArguments = Parameters<LogFn>

function redactedArguments(given: readonly unknown[]): LogArguments {
  const first = given[0]
  if (typeof first !== 'object' || first === null) return [redactedMessage(given, 0)] as LogArguments
  const fields = redact<unknown>(first instanceof Error ? { err: first } : first)
  // Of an object that cannot be read, or that is a text as JSON.
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

/** pino's formatter for bindings is not handed down to children, but an overridden method is. */
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

/** Line by line and synchronous, so that the last words of a process are not lost. */
function prettyStream(destination: DestinationStream, colorize: boolean): DestinationStream {
  const format = PinoPretty.prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l', singleLine: true })
  return { write: (line) => destination.write(format(line)) }
}

/** A logger that says nothing, e.g. for tests. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' })
}
