/** Tests of the Jobs and CronJobs of Echos and ScheduledEchos, and of the fields of Jobs in the cache. */
import t from 'tap'
import { isControlledBy } from '../../../src/api/owner-reference.ts'
import { cronJobFor, jobFor, jobView, messageHash } from '../../../src/operators/echo/children.ts'
import { reconcileContext } from '../../../src/testing/reconcile-context.ts'
import { anEcho, aJob, aScheduledEcho } from '../../support/operators/echo.ts'

const messages = {
  'Hola, 世界!': 'Hola, 世界!',
  $: '$$',
  $$: '$$$$',
  '$(HOME) $HOME': '$$(HOME) $$HOME',
  '': '',
  '; rm -rf /': '; rm -rf /',
}

t.test('a Job prints the message as it is, without a shell and once', async (t) => {
  for (const [message, argument] of Object.entries(messages)) {
    const { restartPolicy, containers } = jobFor(anEcho(message)).spec.template.spec
    t.equal(restartPolicy, 'Never')
    t.strictSame(containers, [{ name: 'a', image: 'busybox:1.33.1', imagePullPolicy: 'IfNotPresent', command: ['echo', argument] }])
  }
})

t.test('a Job has the name and namespace of its Echo, which controls it', async (t) => {
  const owner = anEcho()
  const { metadata } = jobFor(owner)
  t.match(metadata, { namespace: 'test', name: 'a' })
  t.ok(isControlledBy({ metadata } as never, owner))
})

t.test('two messages have different hashes, and one message always has the same', async (t) => {
  const hashOf = (message: string) => jobFor(anEcho(message)).metadata.annotations[messageHash]
  t.equal(hashOf('a'), hashOf('a'))
  t.not(hashOf('a'), hashOf('b'))
})

t.test('a CronJob never runs two Jobs at once, and its Jobs are those of an Echo', async (t) => {
  const owner = aScheduledEcho({ message: '$(HOME)', schedule: '*/5 * * * *' })
  const { metadata, spec } = cronJobFor(owner)
  t.match(metadata, { namespace: 'test', name: 'a' })
  t.ok(isControlledBy({ metadata } as never, owner))
  t.match(spec, { schedule: '*/5 * * * *', concurrencyPolicy: 'Forbid' })
  t.strictSame(spec.jobTemplate.spec.template.spec, jobFor(anEcho('$(HOME)')).spec.template.spec)
})

t.test('the cache keeps only the fields of a Job that the controller reads', async (t) => {
  const cachedOf = (metadata: object) => {
    const job = { ...aJob(anEcho(), { startTime: 'x' }, metadata), apiVersion: 'batch/v1', kind: 'Job' }
    return reconcileContext({ client: {} as never, cached: [job] }).cache.get(jobView, { namespace: 'test', name: 'a' })!
  }
  const large = { labels: { team: 'a' }, annotations: { note: 'x', [messageHash]: 'y'.repeat(100) } }
  const { metadata, ...rest } = cachedOf(large)
  t.strictSame(rest, { apiVersion: 'batch/v1', kind: 'Job', status: { startTime: 'x' } })
  t.strictSame([metadata.labels, metadata.annotations], [undefined, { [messageHash]: 'y'.repeat(32) }])
  t.equal(cachedOf({ annotations: { note: 'x' } }).metadata.annotations, undefined)
  const own = jobFor(anEcho()).metadata.annotations
  t.strictSame(cachedOf({}).metadata.annotations, own, 'a hash of the operator is kept as a whole')
})
