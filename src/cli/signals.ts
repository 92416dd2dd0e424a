/** Termination signals as an AbortSignal. */

/**
 * Aborts on SIGTERM and SIGINT, so that the process ends in order; a second signal ends it at once.
 * `release` takes the handlers away.
 */
export function onTermination(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController()
  const handler = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143)
    controller.abort(new Error(`received ${name}`))
  }
  process.on('SIGTERM', handler)
  process.on('SIGINT', handler)
  return {
    signal: controller.signal,
    release() {
      process.off('SIGTERM', handler)
      process.off('SIGINT', handler)
    },
  }
}
