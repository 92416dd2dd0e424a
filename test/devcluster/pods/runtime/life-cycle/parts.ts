/** The parts of which the facts about the life of Pods are made. */

const image = 'example.com/app:1'

/** A container `main` that runs a script. */
export const sh = (script: string, more: object = {}): object => ({
  name: 'main',
  image,
  command: ['sh', '-c', script],
  ...more,
})

/** Runs until it is killed: the first process in a PID namespace ignores SIGTERM unless it has a handler. */
export const endless = 'sleep 1000'
/** A script that ends with 143 at SIGTERM, as most programs do. `atEnd` is run before. */
export const obedient = (atEnd = ':'): string => `trap "${atEnd}; exit 143" TERM; touch /tmp/armed; sleep 1000 & wait`
/** Waits until the script handles SIGTERM. The probe does not fail in the meantime, so there is no Event `Unhealthy`. */
const untilArmed = {
  exec: { command: ['sh', '-c', 'until test -e /tmp/armed; do sleep 0.1; done'] },
  timeoutSeconds: 60,
  periodSeconds: 60,
}
/** A container that is ready, and a sidecar that has started, when its script handles SIGTERM. */
export const armed = { readinessProbe: untilArmed }
export const startsArmed = { startupProbe: untilArmed }
/** A volume `work` at /work, which outlives the restarts of containers. */
export const work = { volumes: [{ name: 'work', emptyDir: {} }] }
export const atWork = { volumeMounts: [{ name: 'work', mountPath: '/work' }] }
export const never = { restartPolicy: 'Never' }
export const onFailure = { restartPolicy: 'OnFailure' }
/** The least grace period of the kubelet. */
export const shortGrace = { terminationGracePeriodSeconds: 2 }

/** The Events of a container that has started. */
export const started = ['Scheduled', 'Pulled', 'Created', 'Started'] as const

const placed = { PodReadyToStartContainers: 'True', Initialized: 'True', PodScheduled: 'True' }
/** The conditions of a Pod, by its situation. */
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
