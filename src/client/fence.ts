/** `Fence`: calls the guard of a request at the moment when undici is about to write the request to a connection. */
import type { Dispatcher } from 'undici'

/**
 * Calls the guard of one request before each attempt of the request. At the time of the call, undici has an open and free connection for
 * the request. If the guard does not throw, undici writes the request in the same iteration of the event loop.
 *
 * An earlier call would not be sufficient. undici queues a request until a connection is open and free, and the result of the guard could
 * be outdated when the request leaves the queue.
 */
export class Fence {
  readonly #guard: () => void
  #refusal: { readonly error: unknown } | undefined

  constructor(guard: () => void) {
    this.#guard = guard
  }

  /** The error of the guard. It is undefined until the guard has thrown. */
  get refusal(): { readonly error: unknown } | undefined {
    return this.#refusal
  }

  /** Returns a dispatcher that calls the guard immediately before a request is written. */
  around(dispatcher: Dispatcher): Dispatcher {
    return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, this.#guarded(handler)))
  }

  /**
   * Returns a handler whose start callback throws when the guard throws. undici then rejects the request, and the connection stays open.
   */
  #guarded(handler: Dispatcher.DispatchHandler): Dispatcher.DispatchHandler {
    return {
      onRequestStart: (controller, context) => {
        this.#check()
        handler.onRequestStart?.(controller, context)
      },
      onResponseStart: (...response) => handler.onResponseStart?.(...response),
      onResponseData: (...data) => handler.onResponseData?.(...data),
      onResponseEnd: (...end) => handler.onResponseEnd?.(...end),
      onResponseError: (...failure) => handler.onResponseError?.(...failure),
    }
  }

  #check(): void {
    try {
      this.#guard()
    } catch (error) {
      this.#refusal = { error }
      throw new Error('The guard of the request has thrown an error.', { cause: error })
    }
  }
}
