/** Tests that the parameters of handlers have the types of the handled objects. This file is only compiled, never run. */
import { pod } from '../../../src/api/builtin.ts'
import type { Pod } from '../../../src/api/builtin.ts'
import type { DeepReadonly } from '../../../src/api/json.ts'
import { defineWebhook } from '../../../src/webhook/definition/definition.ts'
import type { PodExecOptions, Scale } from '../../../src/webhook/definition/subresource.ts'
import { widget } from '../../support/webhook/fixture.ts'
import type { Widget } from '../../support/webhook/fixture.ts'

export function typedHandlers(): void {
  defineWebhook(widget, { validateInCluster: (object) => (object satisfies DeepReadonly<Widget>, []) })
  defineWebhook(widget, { subresource: 'status', validateInCluster: (object) => (object satisfies DeepReadonly<Widget>, []) })
  defineWebhook(widget, { subresource: 'scale', validate: (object) => (object satisfies DeepReadonly<Scale>, []) })
  defineWebhook(pod, { validateInCluster: (object) => (object satisfies DeepReadonly<Pod>, []) })
  // The type allows an object without a name, because the API server generates the name from `generateName` only after mutating admission.
  defineWebhook(pod, { validate: ({ metadata: { name } }) => (name satisfies string | undefined, []) })
  // @ts-expect-error -- the name may be undefined
  defineWebhook(widget, { default: (object) => (object.metadata.name satisfies string, object) })
  defineWebhook(widget, {
    validate: (object, old) => (old?.metadata.uid satisfies string | undefined, object.spec satisfies DeepReadonly<Widget['spec']>, []),
  })
  defineWebhook(pod, { subresource: 'exec', validateInCluster: (object) => (object satisfies DeepReadonly<PodExecOptions>, []) })
  defineWebhook(pod, { subresource: 'ephemeralcontainers', validateInCluster: (object) => (object satisfies DeepReadonly<Pod>, []) })
  // @ts-expect-error -- a Pod has no field size
  defineWebhook(pod, { validate: ({ size }) => size })
}
