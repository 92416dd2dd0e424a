/** Tests of the Pods of builds and clean-ups: their security, their limits, and the paths to which they can write. */
import t from 'tap'
import type { JsonObject } from '../../../src/api/json.ts'
import type { batch } from '../../../src/api/kubernetes/batch.ts'
import type { ObjectInput } from '../../../src/api/object.ts'
import { admitAll } from '../../../src/devcluster/admission/admission.ts'
import { withPodSecurity } from '../../../src/devcluster/admission/pod-security.ts'
import { buildJob } from '../../../src/operators/xxx/build-job.ts'
import { cleanUpJob } from '../../../src/operators/xxx/clean-up-job.ts'
import { optionsFrom } from '../../../src/operators/xxx/options.ts'
import { attributesOf, pods } from '../../support/devcluster/admission.ts'
import { anXxx } from '../../support/xxx/objects.ts'

type Job = ObjectInput<batch.Job>

const outputs = [{}, { XXX_OUTPUT: 'pvc:programs' }, { XXX_OUTPUT: 'hostPath:/srv/programs', XXX_OUTPUT_NAMESPACES: 'default' }]
const jobsWith = (env: Record<string, string>): Job[] => {
  const options = optionsFrom(env)
  return [buildJob(anXxx(), options, undefined), cleanUpJob(anXxx(), ['helloworld'], options, undefined)]
}
const jobs = outputs.flatMap(jobsWith)

t.test('builds and clean-ups conform to the level restricted, except that they write to a folder of the node as root', async (t) => {
  const admission = withPodSecurity(admitAll, {
    namespaceLabels: () => ({ 'pod-security.kubernetes.io/enforce': 'restricted' }),
    podsIn: () => [],
  })
  const review = (job: Job): Promise<unknown> => {
    const spec = JSON.parse(JSON.stringify(job.spec?.template.spec)) as JsonObject
    return Promise.resolve(admission.validate(attributesOf(pods, { object: { metadata: { name: 'a' }, spec } })))
  }
  const [emptyDir, claim, hostPath] = outputs
  for (const job of [...jobsWith(emptyDir!), ...jobsWith(claim!)]) await t.resolves(review(job))
  for (const job of jobsWith(hostPath!)) {
    const message = await review(job).catch((error: Error) => error.message)
    t.match(message, /restricted volume types \(volume "store-binary" uses restricted volume type "hostPath"\)/)
    t.match(message, /runAsNonRoot != true/)
    t.notMatch(message, /seccompProfile|allowPrivilegeEscalation|capabilities/)
  }
})

t.test('the Pods get no token and no addresses of Services, and end soon after they are deleted', async (t) => {
  for (const { spec } of jobs) {
    const { automountServiceAccountToken, enableServiceLinks, terminationGracePeriodSeconds = 30, restartPolicy } = spec!.template.spec!
    t.strictSame([automountServiceAccountToken, enableServiceLinks, restartPolicy], [false, false, 'Never'])
    t.ok(terminationGracePeriodSeconds <= 5)
  }
})

t.test('each container has requests and limits of cpu and memory', async (t) => {
  for (const { spec } of jobs)
    for (const { resources } of spec!.template.spec!.containers)
      t.match(resources, { requests: { cpu: String, memory: String }, limits: { cpu: String, memory: String } })
})

t.test('a build is not retried and ends after half an hour, and a clean-up is retried and ends after five minutes', async (t) => {
  const [build, cleanUp] = jobsWith({})
  t.match(build?.spec, { backoffLimit: 0, activeDeadlineSeconds: 30 * 60 })
  t.equal(build?.spec?.ttlSecondsAfterFinished, undefined, 'a build Job that is removed would be built again')
  t.match(cleanUp?.spec, { backoffLimit: 3, activeDeadlineSeconds: 5 * 60, ttlSecondsAfterFinished: 5 * 60 })
})

t.test('a folder of the node is created when it is missing, and files in other volumes belong to the user of the build', async (t) => {
  for (const { spec } of jobsWith(outputs[2]!))
    t.match(spec?.template.spec?.volumes, [{ name: 'store-binary', hostPath: { path: '/srv/programs', type: 'DirectoryOrCreate' } }])
  for (const { spec } of jobsWith(outputs[1]!)) {
    const { runAsUser, runAsGroup, fsGroup } = spec!.template.spec!.securityContext!
    t.ok(runAsUser! > 0)
    t.strictSame([runAsGroup, fsGroup], [runAsUser, runAsUser])
  }
})

t.test('the home folder and the cache are in the volume that the build may write, for each clonePath', async (t) => {
  for (const [clonePath, home] of [
    ['/src', '/src'],
    ['/root/go/src/helloworld', '/root'],
  ] as const) {
    const { containers } = buildJob(anXxx({ clonePath }), optionsFrom({}), undefined).spec!.template.spec!
    const [{ env = [], volumeMounts = [] }] = containers as [(typeof containers)[number]]
    const valueOf = (name: string): string | undefined => env.find((variable) => variable.name === name)?.value
    t.strictSame(
      volumeMounts.map(({ mountPath }) => mountPath),
      ['/opt', home],
    )
    t.equal(valueOf('HOME'), home)
    t.ok(valueOf('GOCACHE')?.startsWith(`${home}/`))
  }
})
