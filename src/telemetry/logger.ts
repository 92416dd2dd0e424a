/** The logger: pino with the fields that Kubernetes' operators use, without secrets. */
import { pino } from 'pino'
import type { Bindings, ChildLoggerOptions, DestinationStream, Logger } from 'pino'
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

/** Makes a logger. Credentials, private keys and the data of Secrets never reach its output. */
export function createLogger(options: LoggerOptions = {}): Logger {
  const { level = 'info', pretty = false, colorize = false, muted } = options
  const destination = options.destination ?? pino.destination({ fd: 2, sync: true })
  const logger = pino(
    {
      level,
      // Neither process id nor host name: in a cluster the Pod says both.
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: redact },
      serializers: { err: serializeError },
      ...(muted && {
        hooks: {
          logMethod(args, method, number) {
            if (number >= pino.levels.values.warn! || !muted()) method.apply(this, args)
          },
        },
      }),
    },
    pretty ? prettyStream(destination, colorize) : destination,
  )
  return withRedactedChildren(logger)
}

/** pino's formatter for bindings is not handed down to children, but an overridden method is. */
function withRedactedChildren(logger: Logger): Logger {
  const child = logger.child as unknown as (bindings: Bindings, options?: ChildLoggerOptions) => Logger
  function redactingChild(this: Logger, bindings: Bindings, options?: ChildLoggerOptions): Logger {
    return child.call(this, redact(bindings), options)
  }
  return Object.assign(logger, { child: redactingChild })
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

function serializeError(error: unknown): unknown {
  return error instanceof Error ? redact({ ...pino.stdSerializers.err(error) }) : error
}
