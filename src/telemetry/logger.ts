/** The logger: pino with the field names of Kubernetes operators, and with redaction of secrets. */
import { createRequire } from 'node:module'
import { format } from 'node:util'
import { pino } from 'pino'
import type { Bindings, ChildLoggerOptions, DestinationStream, LogFn, Logger } from 'pino'
import type { PinoPretty } from 'pino-pretty'
import type { OptionCheck } from '../api/option-checks.ts'
import { hasOptions, isAnObject, isBoolean, isFunction, isText, refuseOptions } from '../api/option-checks.ts'
import { redact } from './redact.ts'
import { shortenErrors } from './terminal-errors.ts'

/** A structured logger. `child({ controller, namespace, name, reconcileID })` returns a logger with additional fields. */
export type { Logger }

export interface LoggerOptions {
  /** The minimum level: `trace`, `debug`, `info` (default), `warn`, `error`, `fatal` or `silent`. */
  readonly level?: string
  /** If true, logs are written as human-readable text instead of JSON. Default false. */
  readonly pretty?: boolean
  /** If true, the human-readable text of the option `pretty` is coloured. Default false. */
  readonly colorize?: boolean
  /**
   * While this function returns true, only warnings and errors are logged. Commands mute the logger while they display their own progress.
   */
  readonly muted?: () => boolean
  /** The stream to which log lines are written. Default: standard error, because a command writes its result to standard output. */
  readonly destination?: DestinationStream
}

const checkOptions = hasOptions({
  level: isText,
  pretty: isBoolean,
  colorize: isBoolean,
  muted: isFunction,
  destination: isAnObject,
} satisfies Record<keyof LoggerOptions, OptionCheck>)

/**
 * Creates a logger whose output contains no credentials, private keys or data of Secrets. `redact` is applied to fields, errors, messages
 * and their arguments, and to the fields and message prefixes of child loggers.
 *
 * @throws {ProreusError} `PRO_CONFIG_INVALID` when options are invalid or unknown. The message contains all errors of the options.
 */
export function createLogger(options: LoggerOptions = {}): Logger {
  refuseOptions('createLogger', checkOptions(options, ''))
  const { level = 'info', pretty = false, colorize = false, muted } = options
  const destination = options.destination ?? pino.destination({ fd: 2, sync: true })
  const logger = pino(
    {
      level,
      // Log lines contain neither the process id nor the host name. In a cluster, log collectors add the name of the Pod.
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // `redactedArguments` has already converted errors to plain fields.
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
 * The arguments of pino's log methods: fields, a message such as `'password=%s'`, and values for its placeholders. The values are inserted
 * before the message is redacted. The reason is that a value without the word `password` before it would not be recognized as a secret.
 */
type LogArguments = Parameters<LogFn>

function redactedArguments(given: readonly unknown[]): LogArguments {
  const first = given[0]
  if (typeof first !== 'object' || first === null) return [redactedMessage(given, 0)] as LogArguments
  const fields = redact<unknown>(first instanceof Error ? { err: first } : first)
  // For some objects, such as binary data, `redact` returns a string. It also returns a string for a Date, whose `toJSON` method returns a
  // string.
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

/**
 * Redacts the bindings and the message prefixes of child loggers. Child loggers do not inherit pino's formatter for bindings, but they
 * inherit overridden methods. Therefore, `child` and `setBindings` are overridden here.
 */
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

/**
 * Returns a stream that formats log lines with pino-pretty. Each line is written synchronously, so the last lines before the end of the
 * process are not lost.
 */
function prettyStream(destination: DestinationStream, colorize: boolean): DestinationStream {
  let format: ReturnType<typeof PinoPretty.prettyFactory> | undefined
  const shorten = shortenErrors()
  return {
    write(line) {
      // pino-pretty is loaded only when the first line is written. Most processes that start a control plane for tests log nothing, and
      // therefore never load it.
      format ??= prettyFormatter(colorize)
      destination.write(format(shorten(JSON.parse(line) as Record<string, unknown>)))
    },
  }
}

function prettyFormatter(colorize: boolean): ReturnType<typeof PinoPretty.prettyFactory> {
  const { prettyFactory } = createRequire(import.meta.url)('pino-pretty') as typeof PinoPretty
  return prettyFactory({ colorize, translateTime: 'SYS:HH:MM:ss.l', singleLine: true })
}

/** Returns a logger without output, e.g. for tests. */
export function silentLogger(): Logger {
  return pino({ level: 'silent' })
}
