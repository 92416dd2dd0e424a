/** Tests of the driver `namespaces` as an unprivileged user without subordinate ids. */
import t from 'tap'
import { runCases } from './isolated.ts'

await runCases(t, 'single')
