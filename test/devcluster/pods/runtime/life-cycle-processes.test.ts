import t from 'tap'
import { PodHistory } from '../../../support/pods/pod-history.ts'
import { playFact } from '../../../support/pods/play-fact.ts'
import { needNamespaces, startProcessCluster } from '../../../support/pods/process-cluster.ts'
import { facts } from './life-cycle/facts.ts'

const { client, cluster } = await startProcessCluster(t)
await needNamespaces(t, cluster)
const history = new PodHistory(client, 'default')
t.teardown(() => history.close())
t.jobs = facts.length

for (const fact of facts)
  void t.test(`${fact.name}: ${fact.fact}`, { buffered: true }, (t) => playFact(t, fact, { client, history, isSimulated: false }))
