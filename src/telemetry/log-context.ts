/**
 * The logger of the current reconcile. Shared code, such as the code that logs API warnings, does not receive this logger as an argument.
 * It gets the logger from `logContext()`. In controller-runtime, the `context.Context` contains the logger (`log.FromContext`).
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from './logger.ts'

export interface LogContext {
  /** The name of the controller that runs the current reconcile. */
  readonly controller: string
  /** The logger of the current reconcile, with its fields. */
  readonly logger: Logger
}

const storage = new AsyncLocalStorage<LogContext>()

/** Calls `work`. `logContext` returns `context` in `work` and in all code that `work` calls, even asynchronously. */
export function withLogContext<T>(context: LogContext, work: () => T): T {
  return storage.run(context, work)
}

/** Returns the context that `withLogContext` has set for the current call; undefined outside `withLogContext`. */
export function logContext(): LogContext | undefined {
  return storage.getStore()
}
