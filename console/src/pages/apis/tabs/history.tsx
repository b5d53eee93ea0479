import type { ApiView } from '../../../api/apis/apis.ts'
import { History } from '../../../parts/history/history.tsx'

/** The changes of an API. */
export default function HistoryTab({ api }: { readonly api: ApiView }) {
  return <History kind="api" id={api.id} />
}
