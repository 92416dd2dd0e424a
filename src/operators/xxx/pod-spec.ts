/** The parts that the Pods of builds and of clean-ups have in common. */
import type { core } from 'proreus'
import type { XxxOptions } from './options.ts'

/** The folder in the container at which the output volume is mounted. */
export const outputFolder = '/opt'

const outputVolume = 'store-binary'
const user = 1001

type Container = Pick<core.PodSpec['containers'][number], 'command' | 'env' | 'resources' | 'volumeMounts'>

/** Returns the spec of a Pod with one container. `container` and `volumes` contain the fields that are specific to the task. */
export function podSpec(
  { image, output, nodeSelector }: XxxOptions,
  container: Container,
  volumes: NonNullable<core.PodSpec['volumes']> = [],
): core.PodSpec {
  return {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // A longer grace period is useless. The shell is process 1 and ignores SIGTERM, and the task has no state that it could save.
    terminationGracePeriodSeconds: 5,
    nodeSelector: { ...nodeSelector },
    securityContext: { ...userOf(output), seccompProfile: { type: 'RuntimeDefault' } },
    volumes: [{ name: outputVolume, ...sourceOf(output) }, ...volumes],
    containers: [
      {
        name: 'golang',
        image,
        ...container,
        volumeMounts: [{ name: outputVolume, mountPath: outputFolder }, ...(container.volumeMounts ?? [])],
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  }
}

/**
 * Returns a node affinity for one node. With a node affinity, the scheduler checks that the Pod fits on the node. With `nodeName`, the
 * scheduler would not check this.
 */
export function onNode(node: string): Pick<core.PodSpec, 'affinity'> {
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [node] }]
  return { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchFields }] } } } }
}

/** Returns the user of the container. With hostPath, the user is root, because a folder of the node usually belongs to root. */
function userOf({ kind }: XxxOptions['output']): NonNullable<core.PodSpec['securityContext']> {
  return kind === 'hostPath' ? { runAsUser: 0 } : { runAsNonRoot: true, runAsUser: user, runAsGroup: user, fsGroup: user }
}

function sourceOf(output: XxxOptions['output']): Omit<NonNullable<core.PodSpec['volumes']>[number], 'name'> {
  switch (output.kind) {
    case 'emptyDir':
      return { emptyDir: {} }
    case 'claim':
      return { persistentVolumeClaim: { claimName: output.name } }
    case 'hostPath':
      return { hostPath: { path: output.path, type: 'DirectoryOrCreate' } }
  }
}
