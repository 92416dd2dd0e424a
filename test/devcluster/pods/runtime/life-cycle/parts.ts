/** Values that several objects of the type `LifeCycleFact` share: fields of Pods and containers, and expected conditions and Events. */

const image = 'example.com/app:1'

/** A container `main` that runs a script. */
export const sh = (script: string, more: object = {}): object => ({
  name: 'main',
  image,
  command: ['sh', '-c', script],
  ...more,
})

/**
 * A script that runs until it is killed. It ignores SIGTERM, because the first process in a PID namespace ignores SIGTERM if it has no
 * handler.
 */
export const endless = 'sleep 1000'
/** A script that runs the command `atEnd` at SIGTERM, and then ends with exit code 143, as most programs do. */
export const obedient = (atEnd = ':'): string => `trap "${atEnd}; exit 143" TERM; touch /tmp/armed; sleep 1000 & wait`
/**
 * A probe that waits until the script has set its handler for SIGTERM. While the probe waits, it does not fail, so no Event `Unhealthy` is
 * recorded.
 */
const untilArmed = {
  exec: { command: ['sh', '-c', 'until test -e /tmp/armed; do sleep 0.1; done'] },
  timeoutSeconds: 60,
  periodSeconds: 60,
}
/**
 * With `armed`, a container becomes ready as soon as its script has installed the handler of SIGTERM. With `startsArmed`, a sidecar counts
 * as started as soon as its script has installed this handler.
 */
export const armed = { readinessProbe: untilArmed }
export const startsArmed = { startupProbe: untilArmed }
/** A volume `work` that is mounted at /work. Its files are kept when containers restart. */
export const work = { volumes: [{ name: 'work', emptyDir: {} }] }
export const atWork = { volumeMounts: [{ name: 'work', mountPath: '/work' }] }
export const never = { restartPolicy: 'Never' }
export const onFailure = { restartPolicy: 'OnFailure' }
/** The shortest grace period of the kubelet (k8s.io/kubernetes/pkg/kubelet/kuberuntime: minimumGracePeriodInSeconds). */
export const shortGrace = { terminationGracePeriodSeconds: 2 }

/** The reasons of the Events of a Pod whose container has started. */
export const started = ['Scheduled', 'Pulled', 'Created', 'Started'] as const

const placed = { PodReadyToStartContainers: 'True', Initialized: 'True', PodScheduled: 'True' }
/** The expected conditions of a Pod in different states. */
export const ready = { ...placed, Ready: 'True', ContainersReady: 'True' }
export const unready = { ...placed, Ready: 'False ContainersNotReady', ContainersReady: 'False ContainersNotReady' }
export const uninitialized = { ...unready, Initialized: 'False ContainersNotInitialized' }
export const withoutSandbox = { ...unready, PodReadyToStartContainers: 'False' }
export const succeeded = {
  PodReadyToStartContainers: 'False',
  Initialized: 'True PodCompleted',
  PodScheduled: 'True',
  Ready: 'False PodCompleted',
  ContainersReady: 'False PodCompleted',
}
export const failed = {
  PodReadyToStartContainers: 'False',
  Initialized: 'True',
  PodScheduled: 'True',
  Ready: 'False PodFailed',
  ContainersReady: 'False PodFailed',
}
