/** MyPods and Pods for tests of the MyPod operator. */
import type { Pod } from '../../../src/api/builtin.ts'
import type { MyPod } from '../../../src/operators/mypod/kind.ts'
import { podFor } from '../../../src/operators/mypod/pod.ts'

/** Returns a MyPod as the operator's cache contains it. */
export function aMyPod(spec: Partial<MyPod['spec']> = {}, metadata: Partial<MyPod['metadata']> = {}): MyPod {
  return {
    apiVersion: 'harryyann.github.io/v1',
    kind: 'MyPod',
    metadata: {
      name: 'a',
      namespace: 'ns',
      uid: 'owner',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      generation: 1,
      ...metadata,
    },
    spec: { podSpec: { containers: [{ name: 'main', image: 'x:1' }] }, ...spec },
  }
}

/** Returns the Pod of a MyPod as the API server stores it, with uid, status and defaults. */
export function livePodOf(owner: MyPod, change: { metadata?: Partial<Pod['metadata']>; spec?: object; status?: Pod['status'] } = {}): Pod {
  const { metadata, spec } = podFor(owner)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a', uid: 'pod', resourceVersion: '5', creationTimestamp: '2026-01-01T00:00:10Z', ...metadata, ...change.metadata },
    spec: {
      ...spec!,
      restartPolicy: 'Always',
      tolerations: [
        ...(spec!.tolerations ?? []),
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
      ...change.spec,
    },
    status: change.status ?? { phase: 'Running', podIP: '10.0.0.1', hostIP: '1.2.3.4', conditions: [{ type: 'Ready', status: 'True' }] },
  } as Pod
}
