/** The Job of an Echo and the CronJob of a ScheduledEcho. */
import { batch, cacheView, controllerReference, jsonHash, keyOf } from 'proreus'
import type { DeepReadonly } from 'proreus'
import type { Echo, ScheduledEcho } from './kind.ts'

/** The name of an annotation of a Job. The value is the hash of the message that the Job prints. */
export const messageHash = 'mmontes.io/message-hash'
/** The number of characters of a hash that `jsonHash` returns. */
const hashLength = 32

/**
 * The cache contains only the parts of a Job that the operator needs. This saves memory, because other clients can create very large Jobs.
 */
export const jobView = cacheView(batch.job, {
  transform: ({ apiVersion, kind, metadata, status }): batch.Job => {
    const { labels: _labels, annotations, ...rest } = metadata
    const hash = annotations?.[messageHash]
    const kept = hash === undefined ? rest : { ...rest, annotations: { [messageHash]: hash.slice(0, hashLength) } }
    return { apiVersion, kind, metadata: kept, ...(status !== undefined && { status }) }
  },
})

export function jobFor(owner: DeepReadonly<Echo>) {
  const { message } = owner.spec
  return {
    metadata: { ...keyOf(owner), annotations: { [messageHash]: jsonHash(message) }, ownerReferences: [controllerReference(owner)] },
    spec: { template: { spec: podSpec(owner.metadata.name, message) } },
  }
}

/** Returns the fields of the CronJob that the operator sets. Other clients may set other fields. */
export function cronJobFor(owner: DeepReadonly<ScheduledEcho>) {
  const { message, schedule } = owner.spec
  const template = { spec: podSpec(owner.metadata.name, message) }
  return {
    metadata: { ...keyOf(owner), ownerReferences: [controllerReference(owner)] },
    spec: { schedule, concurrencyPolicy: 'Forbid', jobTemplate: { spec: { template } } },
  }
}

/**
 * Returns the spec of a Pod that prints the message. No shell parses the message. In a command, Kubernetes expands `$(NAME)` and replaces
 * `$$` by `$`, so each `$` of the message is doubled.
 */
function podSpec(name: string, message: string) {
  const command = ['echo', message.replaceAll('$', '$$$$')]
  return { restartPolicy: 'Never', containers: [{ name, image: 'busybox:1.33.1', imagePullPolicy: 'IfNotPresent', command }] }
}
