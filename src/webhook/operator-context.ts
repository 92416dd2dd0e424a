/** Handlers that act under the name of their operator: one review calls those of several operators, each with a client of its own. */
import type { JsonObject } from '../api/json.ts'
import { clientWithSignal } from '../client/client-with-signal.ts'
import type { Client } from '../client/client.ts'
import type { AdmissionContext } from './context.ts'
import type { WebhookDefinition } from './definition.ts'

type Context = AdmissionContext<JsonObject>

/** `webhook`, whose handlers find `client` in their contexts. */
export function withClient(webhook: WebhookDefinition, client: Client): WebhookDefinition {
  const { handlers } = webhook
  const { validateInCluster, validateDelete } = handlers
  return Object.freeze({
    ...webhook,
    handlers: {
      ...handlers,
      ...(validateInCluster && {
        validateInCluster: (object, old, context) => validateInCluster.call(handlers, object, old, new OperatorContext(context, client)),
      }),
      ...(validateDelete && {
        validateDelete: (object, context) => validateDelete.call(handlers, object, new OperatorContext(context, client)),
      }),
    } satisfies WebhookDefinition['handlers'],
  })
}

/** The context of a request with another client; what is said through it is said through the first. */
class OperatorContext implements Context {
  readonly #context: Context
  readonly #client: Client
  #boundClient: Client | undefined

  constructor(context: Context, client: Client) {
    this.#context = context
    this.#client = client
  }

  /** Made when it is used: most handlers look at the object alone. */
  get client(): Client {
    return (this.#boundClient ??= clientWithSignal(this.#client, this.signal))
  }

  get operation(): Context['operation'] {
    return this.#context.operation
  }

  get dryRun(): boolean {
    return this.#context.dryRun
  }

  get user(): Context['user'] {
    return this.#context.user
  }

  get namespace(): string {
    return this.#context.namespace
  }

  get name(): string {
    return this.#context.name
  }

  get resource(): Context['resource'] {
    return this.#context.resource
  }

  get subResource(): string {
    return this.#context.subResource
  }

  get options(): Context['options'] {
    return this.#context.options
  }

  get oldObject(): Context['oldObject'] {
    return this.#context.oldObject
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }

  get logger(): Context['logger'] {
    return this.#context.logger
  }

  get cache(): Context['cache'] {
    return this.#context.cache
  }

  get warn(): Context['warn'] {
    return this.#context.warn
  }

  get audit(): Context['audit'] {
    return this.#context.audit
  }

  get requesterCan(): Context['requesterCan'] {
    return this.#context.requesterCan
  }
}
