import { useQuery } from '@tanstack/react-query'
import { CERTIFICATES_KEY, listCertificateUses } from '../../api/platform/certificates.ts'

/** The APIs that use a certificate, of those that the person may see. */
export function useUses(id: string) {
  return useQuery({
    queryKey: [...CERTIFICATES_KEY, 'uses', id],
    queryFn: ({ signal }) => listCertificateUses(id, signal),
    enabled: id !== '',
  })
}
