import t from 'tap'
import type { Connection } from '../../src/client/connection.ts'
import type { RunOptions } from '../../src/manager/run-options.ts'
import { serviceOf, withDefaults } from '../../src/manager/run-options.ts'
import { namesOf } from '../../src/manager/names.ts'
import { noteOperator } from '../support/manager-world.ts'

const outside: Connection = { server: 'https://127.0.0.1:1', describe: 'a test', namespace: 'of-the-connection' }
const inside: Connection = { ...outside, inCluster: true }

t.test('the namespace of the process is the one that is given, else that of the Pod, else one of its own', async (t) => {
  const namespaceIn = (options: RunOptions): string => serviceOf(namesOf('note'), options).namespace
  t.equal(namespaceIn({ connection: inside, namespace: 'given' }), 'given')
  t.equal(namespaceIn({ connection: inside }), 'of-the-connection')
  t.equal(namespaceIn({ connection: outside, namespace: 'given' }), 'given')
  t.equal(
    namespaceIn({ connection: outside }),
    'note-system',
    'what a context names is for commands that read and write, not for this process',
  )
})

t.test('in a cluster it is reached from everywhere, keeps its certificates in a Secret, and is slow to go', async (t) => {
  t.match(withDefaults([noteOperator], { connection: inside }), {
    certificates: { kind: 'secret', namespace: 'of-the-connection', name: 'note-webhook-ca' },
    service: { namespace: 'of-the-connection', name: 'note-webhook' },
    webhookConfigurations: { mutating: ['note-mutating'], validating: ['note-validating'] },
    probeBindAddress: ':8081',
    metricsBindAddress: ':8080',
    drainDelayMs: 10_000,
    drainDeadlineMs: 30_000,
  })
})

t.test('outside it is on loopback, keeps its certificates in files, and goes at once', async (t) => {
  t.match(withDefaults([noteOperator], { connection: outside }), {
    certificates: { kind: 'files', directory: 'certs' },
    service: { namespace: 'note-system', name: 'note-webhook' },
    probeBindAddress: '127.0.0.1:8081',
    metricsBindAddress: '127.0.0.1:8080',
    drainDelayMs: 0,
    drainDeadlineMs: 30_000,
  })
})
