/**
 * The logger of the current reconcile. Shared code, such as the handler of API warnings, gets it from `logContext()`. In Go, this logger
 * would be in the `context.Context`.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from './logger.ts'

export interface LogContext {
  /** The name of the component that runs the current operation, such as the name of a controller. */
  readonly owner: string
  /** The logger of the current operation, with fields such as those of a reconcile. */
  readonly logger: Logger
}

const storage = new AsyncLocalStorage<LogContext>()

/** Calls `work`. Until `work` has ended, `logContext` returns `context` in all code that `work` calls, also after an `await`. */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return storage.run(context, work)
}

/** Returns the context that `withLogContext` has set for the current call; undefined outside `withLogContext`. */
export function logContext(): LogContext | undefined {
  return storage.getStore()
}
