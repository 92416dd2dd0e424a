import t from 'tap'
import { clientFor } from '../../../support/devcluster/client.ts'
import { startTestCluster } from '../../../support/devcluster/kubectl.ts'
import { PodHistory } from '../../../support/pods/pod-history.ts'
import { playFact } from '../../../support/pods/play-fact.ts'
import { facts } from './life-cycle/facts.ts'

const client = clientFor(t, (await startTestCluster(t)).connection)
const history = new PodHistory(client, 'default')
t.teardown(() => history.close())
t.jobs = facts.length

for (const fact of facts.filter(({ simulated }) => simulated !== undefined))
  void t.test(`${fact.name}: ${fact.fact}`, { buffered: true }, (t) => playFact(t, fact, { client, history, isSimulated: true }))
