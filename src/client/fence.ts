/** `Fence`: calls the guard of a request at the moment when undici is about to write the request to a connection. */
import type { Dispatcher } from 'undici'

/**
 * The guard of one request and its retries. undici queues a request while it connects, and while all connections are busy. A check before
 * the request is queued would be outdated by then, so the guard is called when the request has its connection: undici writes the request in
 * the same turn of the event loop.
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

  /** Returns `dispatcher` with the guard before each request. */
  around(dispatcher: Dispatcher): Dispatcher {
    return dispatcher.compose((dispatch) => (options, handler) => dispatch(options, this.#guarded(handler)))
  }

  /** Returns a handler whose start callback throws when the guard throws. undici then rejects the request, and keeps the connection. */
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
