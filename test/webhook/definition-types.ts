/** Handlers are typed by what they are about: tsc checks this file, and nothing runs it. */
import { pod } from '../../src/api/builtin.ts'
import type { Pod } from '../../src/api/builtin.ts'
import type { DeepReadonly } from '../../src/api/json.ts'
import { defineWebhook } from '../../src/webhook/definition.ts'
import type { PodExecOptions, Scale } from '../../src/webhook/subresource.ts'
import { widget } from '../support/webhook-fixture.ts'
import type { Widget } from '../support/webhook-fixture.ts'

export function typedHandlers(): void {
  defineWebhook(widget, { validateInCluster: (object) => (object satisfies DeepReadonly<Widget>, []) })
  defineWebhook(widget, { subresource: 'status', validateInCluster: (object) => (object satisfies DeepReadonly<Widget>, []) })
  defineWebhook(widget, { subresource: 'scale', validate: (object) => (object satisfies DeepReadonly<Scale>, []) })
  defineWebhook(pod, { validateInCluster: (object) => (object satisfies DeepReadonly<Pod>, []) })
  // On the way there may be no name yet.
  defineWebhook(pod, { validate: ({ metadata: { name } }) => (name satisfies string | undefined, []) })
  // @ts-expect-error -- it is not known to be a string
  defineWebhook(widget, { default: (object) => (object.metadata.name satisfies string, object) })
  defineWebhook(widget, {
    validate: (object, old) => (old?.metadata.uid satisfies string | undefined, object.spec satisfies DeepReadonly<Widget['spec']>, []),
  })
  defineWebhook(pod, { subresource: 'exec', validateInCluster: (object) => (object satisfies DeepReadonly<PodExecOptions>, []) })
  defineWebhook(pod, { subresource: 'ephemeralcontainers', validateInCluster: (object) => (object satisfies DeepReadonly<Pod>, []) })
  // @ts-expect-error -- a Pod has no size
  defineWebhook(pod, { validate: ({ size }) => size })
}
