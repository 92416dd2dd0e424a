/** `referenceChecks`: checks the ConfigMaps and Secrets to which simulated Pods refer. The messages are those of the kubelet. */
import { messageOf } from '../../api/errors.ts'
import { quote } from '../../api/field-error.ts'
import type { Client } from '../../client/client.ts'
import type { ReadonlyPod } from '../controllers/api-types.ts'
import type { ReferenceChecks } from '../controllers/kubelet/simulated/reference-checks.ts'
import { containerEnvironment } from './environment/container-environment.ts'
import { ContainerConfigError } from './environment/container-config-error.ts'
import type { ReadonlyContainer } from './environment/sources.ts'
import { ClusterObjects } from './runtime/cluster-objects.ts'
import { objectFiles, refersToObjects } from './volumes/volume-files.ts'

type Volume = NonNullable<NonNullable<ReadonlyPod['spec']>['volumes']>[number]

export function referenceChecks(client: Client): ReferenceChecks {
  const objects = new ClusterObjects(client)
  return {
    volumes(pod) {
      const volumes = (pod.spec?.volumes ?? []).filter(refersToObjects)
      if (volumes.length === 0) return undefined
      return Promise.all(volumes.map((volume) => problemOf(pod, volume, objects))).then((messages) =>
        messages.filter((message) => message !== undefined),
      )
    },
    variables(pod, container) {
      if (!hasReferences(container)) return undefined
      return containerEnvironment(pod, container, objects).then(
        () => undefined,
        (error: unknown) => {
          const reason = error instanceof ContainerConfigError ? error.reason : 'CreateContainerConfigError'
          return { reason, message: messageOf(error) }
        },
      )
    },
  }
}

async function problemOf(pod: ReadonlyPod, volume: Volume, objects: ClusterObjects): Promise<string | undefined> {
  try {
    await objectFiles(pod, volume, objects)
    return undefined
  } catch (error) {
    return `MountVolume.SetUp failed for volume ${quote(volume.name)} : ${messageOf(error)}`
  }
}

function hasReferences({ env = [], envFrom = [] }: ReadonlyContainer): boolean {
  return (
    envFrom.length > 0 || env.some(({ valueFrom }) => valueFrom?.configMapKeyRef !== undefined || valueFrom?.secretKeyRef !== undefined)
  )
}
